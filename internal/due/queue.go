// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package due keeps what waits for its time in order.
package due

import (
	"container/heap"
	"time"
)

// Item is what waits. It belongs to one queue at most. The zero Item does not
// wait, and is part of what does.
type Item struct {
	// At is when it is due. It must not change while the item waits.
	At time.Time

	place int // in the queue plus one
}

// Waits reports whether the item is in a queue.
func (i *Item) Waits() bool { return i.place > 0 }

// Queue holds items, the one that has been due for longest first, so that nobody
// is passed over. The zero Queue is empty. It is not safe for concurrent use. Adding
// and removing are O(log n).
type Queue[T any] struct {
	// Of is the item that is part of a T.
	Of  func(T) *Item
	all []T
}

// Len is the number of those that wait.
func (q *Queue[T]) Len() int { return len(q.all) }

// First is who is due first. There must be one.
func (q *Queue[T]) First() T { return q.all[0] }

// Add has one wait.
func (q *Queue[T]) Add(t T) { heap.Push((*byTime[T])(q), t) }

// TakeFirst removes and returns who is due first. There must be one.
func (q *Queue[T]) TakeFirst() T { return heap.Pop((*byTime[T])(q)).(T) }

// Remove takes one out, if it waits.
func (q *Queue[T]) Remove(t T) {
	if i := q.Of(t); i.Waits() {
		heap.Remove((*byTime[T])(q), i.place-1)
	}
}

// byTime implements heap.Interface and keeps each item's place right.
type byTime[T any] Queue[T]

func (q *byTime[T]) Len() int           { return len(q.all) }
func (q *byTime[T]) Less(i, j int) bool { return q.Of(q.all[i]).At.Before(q.Of(q.all[j]).At) }

func (q *byTime[T]) Swap(i, j int) {
	q.all[i], q.all[j] = q.all[j], q.all[i]
	q.Of(q.all[i]).place, q.Of(q.all[j]).place = i+1, j+1
}

// Push implements heap.Interface.
func (q *byTime[T]) Push(x any) {
	t := x.(T)
	q.all = append(q.all, t)
	q.Of(t).place = len(q.all)
}

// Pop implements heap.Interface.
func (q *byTime[T]) Pop() any {
	var none T
	last := len(q.all) - 1
	t := q.all[last]
	q.all[last] = none // or it would be kept from the garbage collector
	q.all = q.all[:last]
	q.Of(t).place = 0
	return t
}
