// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package hashring

import (
	"cmp"
	"slices"
)

// Item is one owner of keys.
type Item[T any] struct {
	Value   T
	Address string
	// Weight gives the item its share of the ring; 0 none. At most 2^31-1.
	Weight uint64
	// Serving is false for an item that keeps its place on the ring but must
	// not be chosen: the next one that serves has its keys meanwhile.
	Serving bool
}

// Ring is an immutable ring. Building takes O(points), a lookup O(1) on
// average; it takes 16 bytes a point and a bit. It is safe for concurrent use.
type Ring[T any] struct {
	points *points
	values []T
	// serving is the item that has each point's keys: the point's own, or that
	// of the next point whose item serves. It is empty if nobody serves.
	serving []uint32
}

// New builds a ring with virtualNodes points for an item of weight 10. Where
// only what serves has changed since prev, which may be nil, its points are
// used again.
func New[T any](items []Item[T], virtualNodes int, prev *Ring[T]) *Ring[T] {
	sorted := slices.Clone(items)
	slices.SortStableFunc(sorted, func(a, b Item[T]) int { return cmp.Compare(a.Address, b.Address) })
	places := make([]place, len(sorted))
	weights := make([]uint64, len(sorted))
	for i, item := range sorted {
		weights[i] = item.Weight
	}
	for i, n := range shares(weights, uint64(virtualNodes)) {
		places[i] = place{address: sorted[i].Address, points: n}
	}
	r := &Ring[T]{values: make([]T, len(sorted))}
	for i, item := range sorted {
		r.values[i] = item.Value
	}
	if prev != nil && slices.Equal(prev.points.places, places) {
		r.points = prev.points
	} else {
		r.points = newPoints(places)
	}
	r.serving = r.points.resolve(func(i uint32) bool { return sorted[i].Serving })
	return r
}

// Len is the number of points.
func (r *Ring[T]) Len() int { return len(r.points.hashes) }

// Lookup returns who has the key of the hash: the zero T if nobody serves.
func (r *Ring[T]) Lookup(hash uint64) T {
	if len(r.serving) == 0 {
		var none T
		return none
	}
	return r.values[r.serving[r.points.find(hash)]]
}

// LookupSkip is Lookup, but passes over those that skip reports. It is false if
// nobody is left.
func (r *Ring[T]) LookupSkip(hash uint64, skip func(T) bool) (value T, ok bool) {
	if len(r.serving) == 0 {
		return value, false
	}
	first := r.points.find(hash)
	for n := range len(r.serving) {
		i := first + n
		if i >= len(r.serving) {
			i -= len(r.serving)
		}
		if v := r.values[r.serving[i]]; !skip(v) {
			return v, true
		}
	}
	return value, false
}
