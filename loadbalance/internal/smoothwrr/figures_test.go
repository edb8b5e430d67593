// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package smoothwrr

import (
	"slices"
	"testing"
)

// TestCurrentWeightsOfNginxsExample: nginx describes its order by what each
// server has gained and paid after each pick, which the picks alone tell.
func TestCurrentWeightsOfNginxsExample(t *testing.T) {
	weights := []uint64{5, 1, 1}
	want := [][]int{{-2, 1, 1}, {-4, 2, 2}, {1, -4, 3}, {-1, -3, 4}, {4, -2, -2}, {2, -1, -1}, {0, 0, 0}}
	s := sequence(weights, nil)
	current := make([]int, len(weights))
	for round := range 3 {
		for turn, want := range want {
			for i, w := range weights {
				current[i] += int(w)
			}
			current[s.Next()] -= int(sum(weights))
			if !slices.Equal(current, want) {
				t.Fatalf("current weights %v after pick %d of round %d, want %v", current, turn+1, round+1, want)
			}
		}
	}
}

func TestCountsAreTheWeights(t *testing.T) {
	for _, tt := range []struct {
		weights, want []uint64
		turns, times  int
	}{
		{weights: []uint64{5, 1, 1}, turns: 700, want: []uint64{500, 100, 100}, times: 3},
		{weights: []uint64{1, 8, 3, 6, 5, 5, 4, 7, 2, 9}, turns: 50, want: []uint64{1, 8, 3, 6, 5, 5, 4, 7, 2, 9}, times: 100},
	} {
		s := sequence(tt.weights, nil)
		for time := range tt.times {
			counts := make([]uint64, len(tt.weights))
			for range tt.turns {
				counts[s.Next()]++
			}
			if !slices.Equal(counts, tt.want) {
				t.Errorf("weights %v: the %dth %d turns are %v, want %v", tt.weights, time+1, tt.turns, counts, tt.want)
			}
		}
	}
}
