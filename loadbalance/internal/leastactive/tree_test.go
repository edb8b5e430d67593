// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package leastactive

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

type fixed uint64

func (f fixed) Uint64() uint64 { return uint64(f) }

// TestChoosesLikeANaiveScan drives tree and model with the same calls, changes
// of the list and exclusions.
func TestChoosesLikeANaiveScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const most = 9
		leaves := make([]Leaf[int], most)
		weights := make([]uint64, most)
		counts := make([]int64, most)
		var listed []int
		var tree Tree[int]
		var running []int
		reset := func() {
			listed = rapid.SliceOfDistinct(rapid.IntRange(0, most-1), rapid.ID[int]).Draw(t, "listed")
			entries := make([]Entry[int], 0, len(listed))
			for _, i := range listed {
				weights[i] = rapid.Uint64Range(0, 3).Draw(t, "weight")
				entries = append(entries, Entry[int]{Leaf: &leaves[i], Value: i, Weight: weights[i]})
			}
			tree.Reset(entries)
		}
		reset()
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				reset()
			case 1, 2, 3:
				if len(running) > 0 {
					at := rapid.IntRange(0, len(running)-1).Draw(t, "ends")
					i := running[at]
					running = slices.Delete(running, at, at+1)
					counts[i]--
					tree.Release(&leaves[i])
				}
			default:
				excluded := rapid.SliceOfN(rapid.IntRange(0, most-1), 0, 3).Draw(t, "excluded")
				skip := func(i int) bool { return slices.Contains(excluded, i) }
				if len(excluded) == 0 {
					skip = nil
				}
				fewest := int64(math.MaxInt64)
				for _, i := range listed {
					if weights[i] > 0 && (skip == nil || !skip(i)) {
						fewest = min(fewest, counts[i])
					}
				}
				got, leaf, ok := tree.Acquire(fixed(rapid.Uint64().Draw(t, "random")), skip)
				if ok != (fewest < math.MaxInt64) {
					t.Fatalf("found somebody: %v", ok)
				}
				if !ok {
					continue
				}
				if counts[got] != fewest || weights[got] == 0 || leaf != &leaves[got] || skip != nil && skip(got) {
					t.Fatalf("chose %d with %d calls and weight %d; the fewest are %d", got, counts[got], weights[got], fewest)
				}
				counts[got]++
				running = append(running, got)
			}
			for i := range leaves {
				if leaves[i].Count() != counts[i] {
					t.Fatalf("item %d has %d calls, want %d", i, leaves[i].Count(), counts[i])
				}
			}
		}
	})
}

func TestTiesGoByWeight(t *testing.T) {
	weights := []uint64{1, 2, 3, 4, 0, 10}
	leaves := make([]Leaf[int], len(weights))
	entries := make([]Entry[int], len(weights))
	for i, w := range weights {
		entries[i] = Entry[int]{Leaf: &leaves[i], Value: i, Weight: w}
	}
	var tree Tree[int]
	tree.Reset(entries)
	source := rand.New(rand.NewPCG(3, 4))
	counts := make([]float64, len(weights))
	const draws = 200_000
	for range draws {
		i, leaf, _ := tree.Acquire(source, nil)
		counts[i]++
		tree.Release(leaf)
	}
	chi := 0.0
	for i, w := range weights {
		want := draws * float64(w) / 20
		if w == 0 {
			if counts[i] > 0 {
				t.Error("weight 0 was chosen")
			}
			continue
		}
		chi += (counts[i] - want) * (counts[i] - want) / want
	}
	if chi > 18.5 { // 4 degrees of freedom, p = 0.001; the seed is fixed
		t.Errorf("chi-square %v: %v does not fit %v", chi, counts, weights)
	}
}

func TestHeaviestWeightsDoNotOverflow(t *testing.T) {
	const n = 1 << 16
	leaves := make([]Leaf[int], n)
	entries := make([]Entry[int], n)
	for i := range entries {
		entries[i] = Entry[int]{Leaf: &leaves[i], Value: i, Weight: math.MaxInt32}
	}
	var tree Tree[int]
	tree.Reset(entries)
	if got, _, _ := tree.Acquire(fixed(math.MaxUint64), nil); got != n-1 {
		t.Errorf("the largest random number chose %d, want the last", got)
	}
}

func TestConcurrentSafeAndSpread(t *testing.T) {
	const n, callers = 7, 8
	leaves := make([]Leaf[int], n)
	entries := make([]Entry[int], n)
	for i := range entries {
		entries[i] = Entry[int]{Leaf: &leaves[i], Value: i, Weight: uint64(i + 1)}
	}
	var tree Tree[int]
	tree.Reset(entries)
	var all sync.WaitGroup
	for g := range callers {
		all.Go(func() {
			source := rand.New(rand.NewPCG(uint64(g), 1))
			for range 3000 {
				_, leaf, _ := tree.Acquire(source, nil)
				if c := leaf.Count(); c > 2 {
					t.Errorf("%d calls on one of %d items with %d callers", c, n, callers)
				}
				tree.Release(leaf)
			}
		})
	}
	for range 200 {
		tree.Reset(entries)
	}
	all.Wait()
	for i := range leaves {
		if c := leaves[i].Count(); c != 0 {
			t.Errorf("item %d has %d calls after all have ended", i, c)
		}
	}
}
