// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package smoothwrr

import "sync/atomic"

// maxSteps bounds the work of computing a cycle: items times turns.
const maxSteps = 1 << 22

// Sequence hands out turns. It is safe for concurrent use: a single caller sees
// nginx's order, and many together see each cycle exactly. A turn is O(1),
// takes no lock and allocates nothing.
type Sequence[T any] struct {
	items   []T
	order   order
	counter *counter
}

// order maps the number of a turn to the index of an item.
type order interface {
	at(turn uint64) uint32
	// period is after how many turns the order repeats or is as good as new.
	period() uint64
}

// counter stands on cache lines of its own.
type counter struct {
	_     [64]byte
	turns atomic.Uint64
	_     [56]byte
}

// New makes a sequence of the items whose weight is above 0 and at most 2^31-1.
// With a predecessor it goes on at the same fraction of the cycle: if each
// change began a new cycle, frequent changes would give the first turns, which
// are the heaviest items', again and again.
func New[T any](items []T, weight func(T) uint64, prev *Sequence[T]) *Sequence[T] {
	s := &Sequence[T]{counter: &counter{}}
	weights := make([]uint64, 0, len(items))
	for _, item := range items {
		if w := weight(item); w > 0 {
			s.items = append(s.items, item)
			weights = append(weights, w)
		}
	}
	s.order = newOrder(weights)
	if prev != nil && len(prev.items) > 0 {
		s.counter.turns.Store(uint64(prev.fraction() * float64(s.order.period())))
	}
	return s
}

// fraction is how much of its cycle a sequence has gone through.
func (s *Sequence[T]) fraction() float64 {
	period := s.order.period()
	return float64(s.counter.turns.Load()%period) / float64(period)
}

// Len is the number of items that get turns.
func (s *Sequence[T]) Len() int { return len(s.items) }

// Next takes the next turn; it is the zero T if nobody gets any.
func (s *Sequence[T]) Next() T {
	if len(s.items) == 0 {
		var none T
		return none
	}
	return s.items[s.order.at(s.counter.turns.Add(1)-1)]
}

// newOrder chooses the way that fits the weights.
func newOrder(weights []uint64) order {
	n := uint64(len(weights))
	if n == 0 {
		return plain{n: 1}
	}
	divisor, total := weights[0], uint64(0)
	equal := true
	for _, w := range weights {
		divisor = gcd(divisor, w)
		total += w
		equal = equal && w == weights[0]
	}
	switch turns := total / divisor; {
	case equal:
		return plain{n: n}
	case n*turns <= maxSteps: // n and turns are below 2^32 and 2^63/n
		return newCycle(weights, divisor, turns)
	default:
		return newSpread(weights, total)
	}
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// plain is the order of equal weights: nginx then goes through the list.
type plain struct{ n uint64 }

func (p plain) at(turn uint64) uint32 { return uint32(turn % p.n) }
func (p plain) period() uint64        { return p.n }
