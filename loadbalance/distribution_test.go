// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"fmt"
	"testing"
)

// TestDrawsFitTheWeights, by chi-square at p = 0.001: the seed is fixed, so that
// the result is.
func TestDrawsFitTheWeights(t *testing.T) {
	const picks = 100_000
	for _, tt := range []struct {
		policy  string
		weights []int
		shares  []float64
		limit   float64 // for one degree of freedom fewer than there are instances with a share
	}{
		{Random, []int{5, 3, 2}, []float64{1, 1, 1}, 13.8},
		{Random, []int{1, 1000}, []float64{1, 1}, 10.8},
		{WeightedRandom, []int{5, 3, 2}, []float64{5, 3, 2}, 13.8},
		{WeightedRandom, []int{1, 8, 3, 6, 5, 5, 4, 7, 2, 9}, []float64{1, 8, 3, 6, 5, 5, 4, 7, 2, 9}, 27.9},
		{WeightedRandom, []int{1, 0, 1000}, []float64{1, 0, 1000}, 10.8},
		{LeastActive, []int{5, 3, 2}, []float64{5, 3, 2}, 13.8}, // nothing is in flight
	} {
		t.Run(fmt.Sprint(tt.policy, tt.weights), func(t *testing.T) {
			var total float64
			for _, s := range tt.shares {
				total += s
			}
			counts := shares(t, mustNew(t, tt.policy, WithRand(LockedRand(1))), result("r", tt.weights...), picks)
			chi := 0.
			for i, share := range tt.shares {
				got, want := float64(counts[fmt.Sprintf("i%d:80", i)]), picks*share/total
				switch {
				case want > 0:
					chi += (got - want) * (got - want) / want
				case got > 0:
					t.Errorf("%v picks of weight 0", got)
				}
			}
			if chi > tt.limit {
				t.Errorf("picks %v: chi-square %.1f, want at most %.1f", counts, chi, tt.limit)
			}
		})
	}
}
