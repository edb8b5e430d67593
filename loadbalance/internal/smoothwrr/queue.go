// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package smoothwrr

import "math/bits"

// queue holds jobs by deadline: a list for each, and bits that tell which lists
// and which words of bits are not empty. It is faster than a heap since
// deadlines are small numbers.
type queue struct {
	lists   []link
	words   []uint64 // a bit for each list
	summary []uint64 // a bit for each word
}

func newQueue(latest uint64) *queue {
	return &queue{
		lists:   make([]link, latest+1),
		words:   make([]uint64, latest>>6+1),
		summary: make([]uint64, latest>>12+1),
	}
}

func (q *queue) push(jobs []job, deadline, i uint32) {
	q.lists[deadline].push(jobs, i)
	q.words[deadline>>6] |= 1 << (deadline & 63)
	q.summary[deadline>>12] |= 1 << (deadline >> 6 & 63)
}

// pop takes a job with the soonest deadline, none of which is before now. The
// queue must not be empty.
func (q *queue) pop(jobs []job, now int) uint32 {
	s := now >> 12
	for q.summary[s] == 0 {
		s++
	}
	w := s<<6 | bits.TrailingZeros64(q.summary[s])
	deadline := w<<6 | bits.TrailingZeros64(q.words[w])
	i := q.lists[deadline].pop(jobs)
	if q.lists[deadline] == 0 {
		if q.words[w] &^= 1 << (deadline & 63); q.words[w] == 0 {
			q.summary[s] &^= 1 << (w & 63)
		}
	}
	return i
}
