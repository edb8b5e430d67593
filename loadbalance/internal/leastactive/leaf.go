// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package leastactive

import (
	"math"
	"sync/atomic"
)

// Leaf counts the calls in flight on one item. It belongs to the caller and
// survives changes of the list, in one tree at most. The zero Leaf is ready for
// use.
type Leaf[T any] struct {
	count atomic.Int64 // written under the tree's lock

	// Under the tree's lock: the place in the list plus one, or 0 outside of it,
	// and what the list says.
	place    int
	weight   uint64
	capacity float64
	value    T

	slowness float64 // under the tree's lock; 0 means 1
}

// Count is the number of calls in flight, never below 0. It takes no lock.
func (l *Leaf[T]) Count() int64 { return l.count.Load() }

// add counts n more calls. Whoever ends more calls than have begun is in error,
// but must not make an item look less busy than idle for ever.
func (l *Leaf[T]) add(n int64) { l.count.Store(max(l.count.Load()+n, 0)) }

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
	cost := float64(l.count.Load() + 1)
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
