// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package alias draws items at random by weight in constant time: the alias
// method of M. D. Vose, "A linear algorithm for generating random numbers with
// a given distribution", IEEE Transactions on Software Engineering 17 (1991),
// in integers.
package alias

import "math/bits"

// Table is an immutable table of weighted items. It takes O(n) to build and 24
// bytes an item; a draw is O(1), takes one random number and allocates nothing.
// It is safe for concurrent use.
type Table[T any] struct {
	rows []row[T]
}

// row is drawn with the probability 1/n, and then its own item with
// threshold/2^64, otherwise the other.
type row[T any] struct {
	threshold   uint64
	self, other T
}

// New builds a table of the items whose weight is above 0. Weights may be up to
// 2^31-1, and their number up to 2^32.
func New[T any](items []T, weight func(T) uint64) *Table[T] {
	total := uint64(0)
	n := uint64(0)
	for _, item := range items {
		if w := weight(item); w > 0 {
			total += w
			n++
		}
	}
	t := &Table[T]{rows: make([]row[T], 0, n)}
	// scaled is n times the weight, so that the mean is the total.
	scaled := make([]uint64, 0, n)
	for _, item := range items {
		if w := weight(item); w > 0 {
			t.rows = append(t.rows, row[T]{self: item, other: item})
			scaled = append(scaled, w*n)
		}
	}
	t.pair(scaled, total)
	return t
}

// pair fills each row below the mean with what the rows above have too much.
func (t *Table[T]) pair(scaled []uint64, mean uint64) {
	small := make([]int, 0, len(scaled))
	large := make([]int, 0, len(scaled))
	for i, s := range scaled {
		if s < mean {
			small = append(small, i)
		} else {
			large = append(large, i)
		}
	}
	for len(small) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		t.rows[s].threshold, _ = bits.Div64(scaled[s], 0, mean)
		t.rows[s].other = t.rows[l].self
		if scaled[l] -= mean - scaled[s]; scaled[l] < mean {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	// Rows that are left hold exactly the mean: both items are the row's own.
}

// Len is the number of items that can be drawn.
func (t *Table[T]) Len() int { return len(t.rows) }

// Pick draws the item for a uniformly random r, or the zero T from an empty
// table. A probability is off by at most n/2^64.
func (t *Table[T]) Pick(r uint64) T {
	n := uint64(len(t.rows))
	if n == 0 {
		var none T
		return none
	}
	// The product's upper half chooses the row, its lower half is a uniform
	// fraction within it.
	i, fraction := bits.Mul64(r, n)
	row := &t.rows[i]
	if fraction < row.threshold {
		return row.self
	}
	return row.other
}
