// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package probe

import "container/heap"

// queue holds the suspects that wait for their next probe, the one that has
// been due for longest first, so that nobody is passed over.
type queue []*suspect

func (q *queue) add(s *suspect)      { heap.Push((*byDue)(q), s) }
func (q *queue) takeFirst() *suspect { return heap.Pop((*byDue)(q)).(*suspect) }

// remove takes s out if it waits.
func (q *queue) remove(s *suspect) {
	if s.index >= 0 {
		heap.Remove((*byDue)(q), s.index)
	}
}

// byDue implements heap.Interface and keeps each suspect's index right.
type byDue []*suspect

func (q *byDue) Len() int           { return len(*q) }
func (q *byDue) Less(i, j int) bool { return (*q)[i].due.Before((*q)[j].due) }

func (q *byDue) Swap(i, j int) {
	s := *q
	s[i], s[j] = s[j], s[i]
	s[i].index, s[j].index = i, j
}

// Push implements heap.Interface.
func (q *byDue) Push(x any) {
	s := x.(*suspect)
	s.index = len(*q)
	*q = append(*q, s)
}

// Pop implements heap.Interface.
func (q *byDue) Pop() any {
	last := len(*q) - 1
	s := (*q)[last]
	(*q)[last] = nil // or it would be kept from the garbage collector
	*q = (*q)[:last]
	s.index = -1
	return s
}
