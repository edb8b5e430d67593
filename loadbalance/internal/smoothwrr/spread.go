// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package smoothwrr

import "math/bits"

// The lengths of a table for weights whose cycle is too long are 10^6/2^k, so
// that a million turns are whole rounds. Long rounds are fewer, which keeps
// everybody closer to their share; the shortest takes about 1 ms to lay out. Two
// places an item keep most places fixed, as far as the limit allows.
const (
	shortestRound = 62_500
	longestRound  = 1_000_000
)

func roundFor(n int) uint64 {
	length := uint64(shortestRound)
	for length < 2*uint64(n) && length < longestRound {
		length *= 2
	}
	return length
}

// newSpread makes a table in which each item has as many places as its share
// of a round has whole turns. The places that are left over float: who owns
// one is decided anew in each round, so that everybody gets the fraction of a
// turn that its share has beyond the whole ones.
func newSpread(weights []uint64, total uint64) ([]uint32, *floats) {
	length := roundFor(len(weights))
	places := make([]uint64, len(weights), len(weights)+1)
	rest := make([]uint64, len(weights)) // the fractions, in parts of total
	left := length
	for i, w := range weights {
		places[i], rest[i] = w*length/total, w*length%total // below 2^31 x 2^20
		left -= places[i]
	}
	table := schedule(append(places, left), length)
	float := uint32(len(weights))
	next := float
	for i, owner := range table {
		if owner == float {
			table[i] = next
			next++
		}
	}
	return table, newFloats(rest, total, int(left))
}

// floats decides who owns the floating places of a round, by systematic
// sampling: laid end to end the fractions are as long as there are floating
// places, and the owner of place p is who covers p + y, where y is the round's
// point in [0, 1). So nobody, being shorter than 1, gets two of them in one
// round. The points follow the golden ratio, which fills the interval evenly at
// every length (H. Weyl 1916): in 16 rounds, the most that a million turns are,
// no stretch of it is hit 1.9 times too often or too seldom.
type floats struct {
	ends  []uint64 // where each fraction ends, within the place where it does
	first []uint32 // the first fraction that ends within or after each place
}

// golden is 2^64 over the golden ratio, made odd.
const golden = 0x9e3779b97f4a7c15

func newFloats(rest []uint64, total uint64, places int) *floats {
	f := &floats{ends: make([]uint64, len(rest)), first: make([]uint32, 1, places+1)}
	sum := uint64(0) // within the place
	for i, r := range rest {
		if sum += r; sum >= total {
			sum -= total
			f.first = append(f.first, uint32(i))
		}
		f.ends[i], _ = bits.Div64(sum, 0, total)
	}
	return f
}

// owner searches among the fractions that end within the place; if the point
// is behind all of them, it is on the one that reaches over the place's end.
func (f *floats) owner(place int, round uint64) uint32 {
	point := round * golden
	low, high := f.first[place], f.first[place+1]
	for low < high {
		middle := (low + high) / 2
		if f.ends[middle] <= point {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}
