// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package leastactive

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// TestTiesGoByWeight: with and without items that are passed over, which must
// favour nobody, not their neighbours either.
func TestTiesGoByWeight(t *testing.T) {
	weights := []uint64{1, 2, 3, 4, 0, 10, 7, 1, 1, 5}
	for name, excluded := range map[string][]int{"all": nil, "first": {0}, "heaviest": {5}, "three": {1, 6, 9}} {
		t.Run(name, func(t *testing.T) {
			_, entries := listOf(weights...)
			var tree Tree[int]
			tree.Reset(entries)
			want := slices.Clone(weights)
			for _, i := range excluded {
				want[i] = 0
			}
			skip := func(i int) bool { return slices.Contains(excluded, i) }
			if excluded == nil {
				skip = nil
			}
			source := rand.New(rand.NewPCG(3, 4))
			counts := make([]int, len(weights))
			for range 200_000 {
				i, leaf, _ := tree.Acquire(source, skip)
				counts[i]++
				tree.Release(leaf)
			}
			for i, w := range want {
				if w == 0 && counts[i] > 0 {
					t.Errorf("item %d was chosen", i)
				}
			}
			if chi := chiSquare(counts, want); chi > 26.1 { // 8 degrees of freedom, p = 0.001; the seed is fixed
				t.Errorf("chi-square %v: %v does not fit %v", chi, counts, want)
			}
		})
	}
}

func TestHeaviestWeightsDoNotOverflow(t *testing.T) {
	const n = 1 << 16
	weights := make([]uint64, n)
	for i := range weights {
		weights[i] = math.MaxInt32
	}
	_, entries := listOf(weights...)
	var tree Tree[int]
	tree.Reset(entries)
	for r, want := range map[uint64]int{0: 0, 1 << 63: n / 2, math.MaxUint64: n - 1} {
		got, leaf, _ := tree.Acquire(fixed(r), nil)
		if got != want {
			t.Errorf("the random number %x chose %d, want %d", r, got, want)
		}
		tree.Release(leaf)
	}
}

func TestNobody(t *testing.T) {
	var tree Tree[int]
	nobody := func(when string, skip func(int) bool) {
		t.Helper()
		if _, leaf, ok := tree.Acquire(fixed(1), skip); ok || leaf != nil {
			t.Errorf("%s: somebody was chosen", when)
		}
	}
	nobody("zero value", nil)
	leaves, entries := listOf(0, 0)
	tree.Reset(entries)
	nobody("weight 0", nil)
	entries[1].Weight = 1
	tree.Reset(entries)
	nobody("all passed over", func(int) bool { return true })
	if i, _, ok := tree.Acquire(fixed(1), nil); !ok || i != 1 {
		t.Error("who was passed over once is not chosen again")
	}
	tree.Reset(nil)
	nobody("empty", nil)
	tree.Release(&leaves[1])
	if c := leaves[1].Count(); c != 0 {
		t.Errorf("a call that ended after its item was taken out left a count of %d", c)
	}
}

// TestLastOfTwoEntriesCounts: a leaf that is listed twice must not be chosen
// by a place whose count is no longer kept.
func TestLastOfTwoEntriesCounts(t *testing.T) {
	leaves, entries := listOf(1, 1)
	entries = append(entries, Entry[int]{Leaf: &leaves[0], Value: 7, Weight: 1})
	var tree Tree[int]
	tree.Reset(entries)
	seen := map[int]int{}
	for range 4 {
		i, _, _ := tree.Acquire(fixed(0), nil)
		seen[i]++
	}
	if seen[7] != 2 || seen[1] != 2 {
		t.Errorf("chosen %v, want 7 and 1 in turn", seen)
	}
}

// TestPanicOfSkipLeavesTheTreeWhole: the lock is free and everybody plays.
func TestPanicOfSkipLeavesTheTreeWhole(t *testing.T) {
	_, entries := listOf(5, 1)
	var tree Tree[int]
	tree.Reset(entries)
	func() {
		defer func() { _ = recover() }()
		_, _, _ = tree.Acquire(fixed(0), func(i int) bool {
			if i == 1 {
				panic("skip")
			}
			return true
		})
	}()
	if i, _, _ := tree.Acquire(fixed(0), nil); i != 0 {
		t.Error("the first item still stands aside")
	}
}

func TestConcurrentCallersSpread(t *testing.T) {
	const callers = 8
	leaves, entries := listOf(1, 2, 3, 4, 5, 6, 7)
	var tree Tree[int]
	tree.Reset(entries)
	var all sync.WaitGroup
	for g := range callers {
		all.Go(func() {
			source := rand.New(rand.NewPCG(uint64(g), 1))
			var skip func(int) bool
			if g == 0 {
				skip = func(i int) bool { return i == 6 }
			}
			for range 3000 {
				_, leaf, _ := tree.Acquire(source, skip)
				if c := leaf.Count(); c > 2 {
					t.Errorf("%d calls on one of %d items with %d callers", c, len(leaves), callers)
				}
				tree.Release(leaf)
			}
		})
	}
	for i := range 200 {
		entries[i%7].Weight = uint64(1 + i%3)
		tree.Reset(entries)
	}
	all.Wait()
	for i := range leaves {
		if c := leaves[i].Count(); c != 0 {
			t.Errorf("item %d has %d calls after all have ended", i, c)
		}
	}
}
