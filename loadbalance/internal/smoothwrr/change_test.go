// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package smoothwrr

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestChangesDoNotFloodTheHeaviest: with a change before every turn, be it only
// between two lists and whatever their cycles, the shares are the weights'.
func TestChangesDoNotFloodTheHeaviest(t *testing.T) {
	for name, lists := range map[string][][]uint64{
		"the same":                 {{5, 1, 1}},
		"two weights":              {{5, 1, 1}, {5, 1, 2}},
		"by way of a short cycle":  {{50, 3, 4}, {1, 1}},
		"by way of nobody":         {{5, 1, 1}, {}},
		"with and without a cycle": {{5, 1, 1}, {math.MaxInt32, 429_496_729, 429_496_730}},
		"never with a cycle":       {{math.MaxInt32, 429_496_729, 429_496_730}, {math.MaxInt32, 429_496_729, 429_496_731}},
		"more lists":               {{5, 1, 1}, {10, 2, 1}, {20, 4, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			const turns = 84
			var s *Sequence[int]
			counts := make([]float64, 3)
			for range turns {
				for _, weights := range lists[1:] {
					s = sequence(weights, s)
				}
				s = sequence(lists[0], s)
				counts[s.Next()]++
			}
			for i, w := range lists[0] {
				want := turns * float64(w) / float64(sum(lists[0]))
				if math.Abs(counts[i]-want) > 2.5 {
					t.Errorf("weights %v: item %d got %v turns, want %.1f", lists[0], i, counts[i], want)
				}
			}
		})
	}
}

// TestSameListGoesOnExactly: to be rebuilt without a change is not to be
// noticed, at any moment and by way of anything.
func TestSameListGoesOnExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lists := rapid.SliceOfN(rapid.SliceOfN(rapid.Uint64Range(0, 2000), 1, 5), 1, 4).Draw(t, "lists")
		plain := sequence(lists[0], nil)
		rebuilt := sequence(lists[0], nil)
		for range 100 {
			if got, want := rebuilt.Next(), plain.Next(); got != want {
				t.Fatalf("turn of %d, without rebuilding of %d", got, want)
			}
			for _, weights := range lists[1:] {
				rebuilt = sequence(weights, rebuilt)
			}
			rebuilt = sequence(lists[0], rebuilt)
			if rebuilt.Provisional() {
				rebuilt = rebuilt.Finish()
			}
		}
	})
}

// TestTurnsOfThePredecessorCount: callers that still hold the old sequence, and
// those that took turns while the new one was built, do not make it repeat any.
func TestTurnsOfThePredecessorCount(t *testing.T) {
	old := sequence([]uint64{5, 1, 1}, nil)
	got := take(old, 2)
	renewed := sequence([]uint64{5, 1, 1}, old)
	got += take(old, 2) + take(renewed, 1) + take(old, 1) + take(renewed, 1)
	if got != "aabacaa" {
		t.Errorf("turns %s, want nginx's aabacaa", got)
	}
}

// TestChangesAreQuickAndFinishLater: a change of a list whose cycle takes long
// to lay out is served by a rotation, and then goes on in nginx's order.
func TestChangesAreQuickAndFinishLater(t *testing.T) {
	weights := mixed(100)
	first := sequence(weights, nil)
	if first.Provisional() {
		t.Fatal("the first list has nobody to stand in for")
	}
	other := append(slices.Clone(weights[:99]), 1)
	changed := sequence(other, first)
	if !changed.Provisional() {
		t.Fatalf("a cycle of %d turns of 100 items was laid out within a change", sum(other))
	}
	if again := sequence(other, changed); again.order != changed.order {
		t.Error("the same weights were laid out again")
	}
	counts := make([]uint64, 100)
	for range 10 * sum(other) {
		counts[changed.Next()]++
	}
	for i, w := range other {
		if off := math.Abs(float64(counts[i]) - 10*float64(w)); off > 7 {
			t.Errorf("item %d got %d turns in ten cycles, want %d", i, counts[i], 10*w)
		}
	}
	finished, model := changed.Finish(), nginx{weights: other, current: make([]int64, 100)}
	if finished.Provisional() {
		t.Fatal("provisional after Finish")
	}
	for turn := range 2 * sum(other) { // ten whole cycles are behind: it begins anew
		if got, want := finished.Next(), model.next(); got != want {
			t.Fatalf("turn %d of %d, nginx gives it to %d", turn, got, want)
		}
	}
}
