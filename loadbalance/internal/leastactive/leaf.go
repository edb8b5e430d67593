// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package leastactive

import "sync/atomic"

// Leaf counts the calls in flight on one item. It belongs to the caller and
// survives changes of the list, in one tree at most. The zero Leaf is ready for
// use.
type Leaf[T any] struct {
	count atomic.Int64 // written under the tree's lock

	// Under the tree's lock: the place in the list plus one, or 0 outside of it,
	// and what the list says.
	place  int
	weight uint64
	value  T
}

// Count is the number of calls in flight, never below 0. It takes no lock.
func (l *Leaf[T]) Count() int64 { return l.count.Load() }

// add counts n more calls. Whoever ends more calls than have begun is in error,
// but must not make an item look less busy than idle for ever.
func (l *Leaf[T]) add(n int64) { l.count.Store(max(l.count.Load()+n, 0)) }

// leave takes the leaf out of the list, and lets go of the value.
func (l *Leaf[T]) leave() {
	var none T
	l.place, l.weight, l.value = 0, 0, none
}

// Entry is one item of a list. An item of weight 0 is never chosen; weights are
// at most 2^31-1.
type Entry[T any] struct {
	Leaf   *Leaf[T]
	Value  T
	Weight uint64
}
