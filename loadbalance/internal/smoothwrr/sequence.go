// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package smoothwrr

// Sequence hands out turns. It is safe for concurrent use: a single caller sees
// the order exactly, many together share out each cycle exactly. A turn is
// O(1), takes no lock and allocates nothing.
type Sequence[T any] struct {
	count *counter
	// offset is what to add to the counter for the number of the turn.
	offset uint64
	cycle  divisor  // the order's, nearer
	table  []uint32 // the order's, nearer
	items  []T
	n      int
	order  *order
	begun  position
	since  uint64 // what the counter was then
}

// New makes a sequence of the items whose weight is above 0; weights are at
// most 2^31-1. It keeps the list.
//
// With a predecessor it goes on where that one is: at the same fraction of the
// cycle. If each change began a new cycle, frequent changes would give the first
// turns, which are the heaviest items', again and again. The two share one
// counter, which callers of either move: a turn that is still taken from the
// predecessor, while the new one is built or after it, is not given out a second
// time. So each part of the cycle is gone through once, if by the weights of
// one list or the other. A sequence should have one successor at most, since
// several would share the turns among them.
//
// Without one it takes the time that nginx's order takes to lay out, which is
// 4 ms at most. With one it takes O(n), and may be [Sequence.Provisional].
func New[T any](items []T, weight func(T) uint64, prev *Sequence[T]) *Sequence[T] {
	s := &Sequence[T]{}
	var weights []uint64
	s.items, weights = weighted(items, weight)
	s.n = len(s.items)
	if s.n == 0 { // so that Next needs no case for it
		s.items, weights = make([]T, 1), []uint64{1}
	}
	if prev == nil {
		s.begin(newOrder(weights, maxSteps), nil)
	} else {
		s.begin(prev.order.changed(weights), prev)
	}
	return s
}

// weighted leaves out who has no weight, which mostly is nobody.
func weighted[T any](items []T, weight func(T) uint64) ([]T, []uint64) {
	weights := make([]uint64, 0, len(items))
	for _, item := range items {
		if w := weight(item); w > 0 {
			weights = append(weights, w)
		}
	}
	if len(weights) == len(items) {
		return items, weights
	}
	kept := make([]T, 0, len(weights))
	for _, item := range items {
		if weight(item) > 0 {
			kept = append(kept, item)
		}
	}
	return kept, weights
}

// begin takes the place of a predecessor.
func (s *Sequence[T]) begin(o *order, prev *Sequence[T]) {
	s.order, s.cycle, s.table = o, o.cycle, o.table
	if prev == nil {
		s.count = newCounter()
	} else {
		s.count = prev.count
		s.since = s.count.turns.Load()
		s.begun = prev.at(s.since)
	}
	// Next sees the counter with its own turn added already.
	s.offset = s.begun.turn(s.cycle.by) - s.since - 1
}

// at is how far the sequence is when the counter stands at now.
func (s *Sequence[T]) at(now uint64) position {
	return s.begun.after(now-s.since, s.cycle.by)
}

// Provisional reports whether the order stands in for nginx's, which would have
// taken longer to lay out than a change should take.
func (s *Sequence[T]) Provisional() bool { return s.order.provisional() }

// Finish lays out nginx's order for a provisional sequence, in up to 4 ms, and
// returns the sequence that should take its place.
func (s *Sequence[T]) Finish() *Sequence[T] {
	f := &Sequence[T]{items: s.items, n: s.n}
	f.begin(newOrder(s.order.weights, maxSteps), s)
	return f
}

// Len is the number of items that get turns.
func (s *Sequence[T]) Len() int { return s.n }

// Next takes the next turn; it is the zero T if nobody gets any.
func (s *Sequence[T]) Next() T {
	turn := s.count.next()
	if s.table == nil {
		// By the counter alone, so that the points of one list go on where those
		// of another end.
		return s.items[s.order.rotation.owner(turn)]
	}
	return s.items[s.table[s.cycle.remainder(turn+s.offset)]]
}
