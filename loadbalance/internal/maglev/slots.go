// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package maglev

import "slices"

// slots are those that are free yet.
type slots struct {
	size uint32
	left int
	free []uint64 // a bit for each
	last []uint32 // the slots themselves, when there are few
}

// few is when it takes less time to look at all free slots than to go until one
// is met.
const few = 256

func newSlots(size int) *slots {
	s := &slots{size: uint32(size), left: size, free: make([]uint64, size/64+1)}
	for i := range s.free {
		s.free[i] = ^uint64(0)
	}
	s.free[size/64] = 1<<(size%64) - 1
	return s
}

// take finds the first free slot on the taker's way and takes it.
func (s *slots) take(t *taker) uint32 {
	if s.left <= few {
		return s.takeLast(t)
	}
	s.left--
	at, step, size, free := t.at, t.step, s.size, s.free
	for free[at/64]&(1<<(at%64)) == 0 {
		at = next(at, step, size)
	}
	free[at/64] &^= 1 << (at % 64)
	t.at = next(at, step, size)
	return at
}

// next is a step further, going round. A branch would be mispredicted often.
func next(at, step, size uint32) uint32 {
	at += step - size
	return at + size&uint32(int32(at)>>31)
}

// takeLast is take without going: it computes how many steps each free slot is
// away, which is its distance divided by the step, modulo the size, a prime.
func (s *slots) takeLast(t *taker) uint32 {
	if s.last == nil {
		s.last = s.list()
	}
	size := uint64(s.size)
	perStep := inverse(uint64(t.step), size)
	nearest, steps := 0, size
	for i, at := range s.last {
		if n := (uint64(at) + size - uint64(t.at)) * perStep % size; n < steps {
			nearest, steps = i, n
		}
	}
	at := s.last[nearest]
	s.last = slices.Delete(s.last, nearest, nearest+1)
	return at
}

func (s *slots) list() []uint32 {
	list := make([]uint32, 0, s.left)
	for at := range s.size {
		if s.free[at/64]&(1<<(at%64)) != 0 {
			list = append(list, at)
		}
	}
	return list
}

// inverse is the n for which n times x is 1 modulo the prime: x to the power of
// the prime less 2 (Fermat).
func inverse(x, prime uint64) uint64 {
	n := uint64(1)
	for power := prime - 2; power > 0; power >>= 1 {
		if power&1 == 1 {
			n = n * x % prime
		}
		x = x * x % prime
	}
	return n
}
