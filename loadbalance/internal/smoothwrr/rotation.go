// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package smoothwrr

import (
	"math"
	"math/bits"
)

// rotation gives out turns without a table of them. The items lie side by side
// on a circle, each an arc as long as its share; turn t is at t x step, and who
// has the arc there gets it. It takes O(n) to lay out, at whatever weights.
type rotation struct {
	ends  []uint64 // where the arcs end, in 2^64ths of the circle
	first []uint32 // the first arc that ends behind the beginning of each sector
	shift uint
}

// step is how far turns are from each other. For a rotation by a number that has
// the denominator q among its continued fraction's convergents, any q turns in a
// row give each arc its share to within two (A. Denjoy 1932, J. F. Koksma). This
// number is the one that goes on as the golden ratio does from the fraction
// 380,199 / 1,000,000, so that a million turns are exact to within two, in
// fact to within 1.5; and that fraction is the one, among those with the
// smallest partial quotients, for which shorter stretches are the evenest.
const step = 0x6154b8bef84ea197

func newRotation(weights []uint64, total uint64) rotation {
	width := bits.Len(uint(len(weights))) // of sectors there are up to twice as many as arcs
	r := rotation{
		ends:  make([]uint64, len(weights)),
		first: make([]uint32, 1<<width+1),
		shift: uint(64 - width),
	}
	circle := newFractions(total)
	sum, sector := uint64(0), uint64(0)
	for i, w := range weights[:len(weights)-1] {
		sum += w
		end := circle.of(sum)
		r.ends[i] = end
		for ; sector <= (end-1)>>r.shift; sector++ {
			r.first[sector] = uint32(i)
		}
	}
	last := len(weights) - 1
	r.ends[last] = math.MaxUint64 // as good as 2^64: find never looks at it
	for ; sector < uint64(len(r.first)); sector++ {
		r.first[sector] = uint32(last)
	}
	return r
}

// fractions finds parts of a total in 2^64ths by multiplication, since to divide
// for each item would take most of the time. They are short by less than 2^-62 of
// the whole, where the shortest arc is 2^-55 of it.
type fractions struct {
	inverse uint64
	shift   uint
}

func newFractions(total uint64) fractions {
	shift := uint(bits.Len64(total) - 1)
	if total == 1<<shift {
		return fractions{inverse: math.MaxUint64, shift: shift} // as good as 2^64
	}
	inverse, _ := bits.Div64(1<<shift, 0, total)
	return fractions{inverse: inverse, shift: shift}
}

// of is the part of a sum below the total.
func (f fractions) of(sum uint64) uint64 {
	high, low := bits.Mul64(sum, f.inverse)
	return high<<(64-f.shift) | low>>f.shift
}

// owner returns who gets a turn. A sector that many arcs end in is hit as seldom
// as they are short, but then it must not take long.
func (r *rotation) owner(turn uint64) uint32 {
	at := turn * step
	sector := at >> r.shift
	low, high := r.first[sector], r.first[sector+1]
	for low < high {
		middle := (low + high) / 2
		if r.ends[middle] <= at {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}
