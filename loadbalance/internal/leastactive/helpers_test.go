// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package leastactive

// fixed gives one number for ever.
type fixed uint64

func (f fixed) Uint64() uint64 { return uint64(f) }

// listOf makes the items 0, 1, 2, ... of some weights.
func listOf(weights ...uint64) ([]Leaf[int], []Entry[int]) {
	leaves := make([]Leaf[int], len(weights))
	entries := make([]Entry[int], len(weights))
	for i, w := range weights {
		entries[i] = Entry[int]{Leaf: &leaves[i], Value: i, Weight: w}
	}
	return leaves, entries
}

// chiSquare measures how far counts are from the weights' shares.
func chiSquare(counts []int, weights []uint64) float64 {
	draws, total := 0, uint64(0)
	for i, w := range weights {
		draws += counts[i]
		total += w
	}
	chi := 0.0
	for i, w := range weights {
		if w > 0 {
			want := float64(draws) * float64(w) / float64(total)
			chi += (float64(counts[i]) - want) * (float64(counts[i]) - want) / want
		}
	}
	return chi
}
