// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package hashring

import (
	"cmp"
	"slices"
)

// DefaultVirtualNodes is the number of points of an item of weight 10.
const DefaultVirtualNodes = 160

// Item is one owner of keys.
type Item[T any] struct {
	Value T
	// Address is the item's identity, of which there should be one only.
	Address string
	// Weight gives the item its share of the ring; 0 none. At most 2^31-1.
	Weight uint64
	// Serving is false for an item that must not be chosen: the next one has its
	// keys meanwhile, and everybody else keeps theirs.
	Serving bool
}

// Ring is an immutable ring. Building takes O(points), a lookup O(1) on average
// and no allocation. It takes about 14 bytes a point. It is safe for concurrent
// use.
type Ring[T any] struct {
	places []place // by address
	circle *circle
	values []T // by slot
}

// place is what decides where an item's points are, and the slot that stands for
// the item in them. An item keeps its slot as long as it is listed, so that
// changes around it leave its points as they are.
type place struct {
	address string
	points  uint32 // 0 for who does not serve
	slot    uint32
}

// New builds a ring with virtualNodes points for an item of weight 10, or
// DefaultVirtualNodes if that is not above 0, and others in proportion, at
// least one for a weight above 0.
//
// What is still right of prev, which may be nil, is used again; the ring maps
// keys as it would without. Where only values have changed that costs O(items),
// and if few have come, left, changed their weight or begun or ceased to serve,
// O(items) and some ten steps for each of their points.
func New[T any](items []Item[T], virtualNodes int, prev *Ring[T]) *Ring[T] {
	if virtualNodes <= 0 {
		virtualNodes = DefaultVirtualNodes
	}
	items = byAddress(items)
	r := &Ring[T]{places: placesOf(items, uint64(virtualNodes))}
	var slots int
	if prev == nil {
		r.circle, slots = newCircle(r.places)
	} else {
		r.circle, slots = prev.circle.changed(prev.places, r.places, len(prev.values))
	}
	r.values = make([]T, slots)
	for i, p := range r.places {
		r.values[p.slot] = items[i].Value
	}
	return r
}

// byAddress returns the items in the order of their addresses.
func byAddress[T any](items []Item[T]) []Item[T] {
	compare := func(a, b Item[T]) int { return cmp.Compare(a.Address, b.Address) }
	if slices.IsSortedFunc(items, compare) {
		return items
	}
	items = slices.Clone(items)
	slices.SortStableFunc(items, compare)
	return items
}

// placesOf counts the points. Who does not serve has none, since a key's next
// serving point is the same with and without points in between; but it weighs
// in where everybody's points are halved.
func placesOf[T any](items []Item[T], virtualNodes uint64) []place {
	weights := make([]uint64, len(items))
	for i, item := range items {
		weights[i] = item.Weight
	}
	places := make([]place, len(items))
	for i, n := range shares(weights, virtualNodes) {
		places[i] = place{address: items[i].Address, points: n, slot: uint32(i)}
		if !items[i].Serving {
			places[i].points = 0
		}
	}
	return places
}

// Len is the number of points of who serves.
func (r *Ring[T]) Len() int { return r.circle.n }

// Lookup returns who has the key of the hash: the zero T if nobody serves.
func (r *Ring[T]) Lookup(hash uint64) T {
	a, i := r.circle.find(hash)
	if i < len(a.owners) {
		return r.values[a.owners[i]]
	}
	return r.first(hash)
}

// first is Lookup for a hash that has no point after it in its arc.
func (r *Ring[T]) first(hash uint64) (value T) {
	if r.circle.n == 0 {
		return value
	}
	next := r.circle.after(r.circle.arcOf(hash))
	return r.values[r.circle.arcs[next].owners[0]]
}

// LookupSkip is Lookup, but passes over those that skip reports, to who has the
// points after theirs. It is false if nobody is left, which takes a walk round
// the whole ring to find out.
func (r *Ring[T]) LookupSkip(hash uint64, skip func(T) bool) (value T, ok bool) {
	c := r.circle
	if c.n == 0 {
		return value, false
	}
	number := c.arcOf(hash)
	a, i := c.find(hash)
	for range c.n {
		if i == len(a.owners) {
			number = c.after(number)
			a, i = &c.arcs[number], 0
		}
		if v := r.values[a.owners[i]]; !skip(v) {
			return v, true
		}
		i++
	}
	return value, false
}
