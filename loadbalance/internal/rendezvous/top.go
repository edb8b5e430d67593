// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package rendezvous

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// Top returns the size items with the highest scores for the caller, in the order
// of the list, or the list itself if it has no more. It takes O(n log n). The
// choice depends on the caller and the addresses alone.
func Top[T any](caller string, items []T, address func(T) string, size int) []T {
	if len(items) <= size {
		return items
	}
	type scored struct {
		score uint64
		place int
	}
	all := make([]scored, len(items))
	seed := xxhash.Sum64String(caller)
	for i, item := range items {
		all[i] = scored{mix(seed, xxhash.Sum64String(address(item))), i}
	}
	slices.SortFunc(all, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(address(items[a.place]), address(items[b.place])))
	})
	all = all[:size]
	slices.SortFunc(all, func(a, b scored) int { return cmp.Compare(a.place, b.place) })
	top := make([]T, size)
	for i, s := range all {
		top[i] = items[s.place]
	}
	return top
}

// mix spreads both hashes over all bits (the finalizer of MurmurHash3).
func mix(a, b uint64) uint64 {
	h := a ^ (b + 0x9e3779b97f4a7c15 + a<<6 + a>>2)
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
