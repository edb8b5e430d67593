// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package smoothwrr

import "sync/atomic"

// Sequence hands out turns. It is safe for concurrent use: a single caller sees
// the order exactly, many together share out each cycle exactly. A turn is
// O(1), takes no lock and allocates nothing.
type Sequence[T any] struct {
	count *counter
	// offset is what to add to the counter for the number of the turn.
	offset uint64
	length divisor
	table  []uint32 // indices of items; from len(items) on, floating places
	items  []T
	floats *floats // nil if the table has no floating places
	n      int
	begun  position
	since  uint64 // what the counter was then
}

// counter numbers the turns of a sequence and of those that replace it. It
// stands on cache lines of its own.
type counter struct {
	_     [64]byte
	turns atomic.Uint64
	_     [56]byte
}

// New makes a sequence of the items whose weight is above 0; weights are at
// most 2^31-1.
//
// With a predecessor it goes on where that one is: at the same fraction of the
// cycle. If each change began a new cycle, frequent changes would give the first
// turns, which are the heaviest items', again and again. The two share one
// counter, which callers of either move: a turn that is still taken from the
// predecessor, while the new one is built or after it, is not given out a second
// time. So each part of the cycle is gone through once, if by the weights of
// one list or the other. A sequence should have one successor at most, since
// several would share the turns among them.
func New[T any](items []T, weight func(T) uint64, prev *Sequence[T]) *Sequence[T] {
	s := &Sequence[T]{}
	weights := make([]uint64, 0, len(items))
	for _, item := range items {
		if w := weight(item); w > 0 {
			s.items = append(s.items, item)
			weights = append(weights, w)
		}
	}
	s.n = len(s.items)
	if s.n == 0 { // so that Next needs no case for it
		s.items, weights = make([]T, 1), []uint64{1}
	}
	s.table, s.floats = newTable(weights)
	s.length = newDivisor(uint64(len(s.table)))
	s.begin(prev)
	return s
}

// begin takes the place of a predecessor.
func (s *Sequence[T]) begin(prev *Sequence[T]) {
	if prev == nil {
		s.count = &counter{}
	} else {
		s.count = prev.count
		s.since = s.count.turns.Load()
		s.begun = prev.at(s.since)
	}
	// Next sees the counter with its own turn added already.
	s.offset = s.begun.turn(s.length.by) - s.since - 1
}

// at is how far the sequence is when the counter stands at now.
func (s *Sequence[T]) at(now uint64) position {
	return s.begun.after(now-s.since, s.length.by)
}

// Len is the number of items that get turns.
func (s *Sequence[T]) Len() int { return s.n }

// Next takes the next turn; it is the zero T if nobody gets any.
func (s *Sequence[T]) Next() T {
	turn := s.count.turns.Add(1) + s.offset
	i := s.table[s.length.remainder(turn)]
	if uint(i) < uint(len(s.items)) {
		return s.items[i]
	}
	round, _ := s.length.divide(turn)
	return s.items[s.floats.owner(int(i)-len(s.items), round)]
}
