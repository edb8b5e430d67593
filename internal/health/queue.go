// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package health

import "container/heap"

// queue holds targets that wait for their next check, the one that has been due
// for longest first, so that nobody is passed over.
type queue []*target

func (q *queue) add(t *target)      { heap.Push((*byDue)(q), t) }
func (q *queue) takeFirst() *target { return heap.Pop((*byDue)(q)).(*target) }

// remove takes t out if it waits.
func (q *queue) remove(t *target) {
	if t.index >= 0 {
		heap.Remove((*byDue)(q), t.index)
	}
}

// byDue implements heap.Interface and keeps each target's index right.
type byDue []*target

func (q *byDue) Len() int           { return len(*q) }
func (q *byDue) Less(i, j int) bool { return (*q)[i].due.Before((*q)[j].due) }

func (q *byDue) Swap(i, j int) {
	s := *q
	s[i], s[j] = s[j], s[i]
	s[i].index, s[j].index = i, j
}

// Push implements heap.Interface.
func (q *byDue) Push(x any) {
	t := x.(*target)
	t.index = len(*q)
	*q = append(*q, t)
}

// Pop implements heap.Interface.
func (q *byDue) Pop() any {
	last := len(*q) - 1
	t := (*q)[last]
	(*q)[last] = nil // or it would be kept from the garbage collector
	*q = (*q)[:last]
	t.index = -1
	return t
}
