// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package leastactive

import (
	"math"
	"sync/atomic"
)

// Leaf is an item's place in one tree at most, with the calls in flight on it. It
// belongs to the caller and survives changes of the list. The zero Leaf is ready
// for use.
type Leaf[T any] struct {
	own    atomic.Int64
	shared *atomic.Int64 // in place of own

	// Under the tree's lock: the place in the list plus one, or 0 outside of it,
	// and what the list says.
	place    int
	weight   uint64
	capacity float64
	value    T

	slowness float64 // under the tree's lock; 0 means 1
}

// Share has the leaf count by a number that the leaves of the same item in other
// trees share, before it is listed. Whoever changes that number tells the trees
// by [Tree.Refresh], but for changes that a tree has made itself.
func (l *Leaf[T]) Share(count *atomic.Int64) { l.shared = count }

func (l *Leaf[T]) calls() *atomic.Int64 {
	if l.shared != nil {
		return l.shared
	}
	return &l.own
}

// Count is the number of calls in flight, never below 0. It takes no lock.
func (l *Leaf[T]) Count() int64 { return max(l.calls().Load(), 0) }

// add counts n more calls. Whoever ends more calls than have begun is in error,
// but must not make an item look less busy than idle for ever.
func (l *Leaf[T]) add(n int64) {
	for calls := l.calls(); ; {
		before := calls.Load()
		if calls.CompareAndSwap(before, max(before+n, 0)) {
			return
		}
	}
}

// enter puts the leaf at a place of the list.
func (l *Leaf[T]) enter(place int, e Entry[T]) {
	l.place, l.weight, l.capacity, l.value = place, e.Weight, e.Capacity, e.Value
	if l.capacity == 0 {
		l.capacity = 1
	}
}

// leave takes the leaf out of the list, and lets go of the value.
func (l *Leaf[T]) leave() {
	var none T
	l.place, l.weight, l.capacity, l.value = 0, 0, 0, none
}

// cost is what one more call would be, as a number that has the order of the
// costs: positive floating-point numbers have that of their bits. Equal fractions
// divide to equal numbers, and those of counts below 2^20 and capacities of up to
// 2^31 that differ do so by more than the rounding, so that ties are exact.
func (l *Leaf[T]) cost() int64 {
	cost := float64(l.Count() + 1)
	if l.capacity != 1 {
		cost /= l.capacity
	}
	if l.slowness > 0 {
		cost *= l.slowness
	}
	return int64(math.Float64bits(cost))
}

// Entry is one item of a list. An item of weight 0 is never chosen; weights are
// at most 2^31-1.
type Entry[T any] struct {
	Leaf   *Leaf[T]
	Value  T
	Weight uint64
	// Capacity is what the calls in flight are divided by when items are compared:
	// 1 for all if 0, or an item's weight, or how far it has warmed up.
	Capacity float64
}
