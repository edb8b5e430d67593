// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package alias

import "math/bits"

// Table is an immutable table of weighted items. It takes O(n) to build; a draw
// is O(1), takes one random number and allocates nothing. A row is 8 bytes and
// two items. It is safe for concurrent use.
type Table[T any] struct {
	rows []row[T]
	n    int
}

// row is drawn with the probability 1/n, and then the first of its items, the
// row's own, with threshold/2^64, otherwise the second. They are an array so
// that choosing needs no branch, which would be mispredicted half the time.
type row[T any] struct {
	threshold uint64
	items     [2]T
}

// New builds a table of the items whose weight is above 0. Weights may be up to
// 2^31-1, and there may be up to 2^32 items.
func New[T any](items []T, weight func(T) uint64) *Table[T] {
	rows := make([]row[T], 0, len(items))
	weights := make([]uint64, 0, len(items))
	for _, item := range items {
		if w := weight(item); w > 0 {
			rows = append(rows, row[T]{items: [2]T{item, item}})
			weights = append(weights, w)
		}
	}
	t := &Table[T]{rows: rows, n: len(rows)}
	if t.n == 0 {
		t.rows = make([]row[T], 1) // so that Pick needs no case for it
		return t
	}
	t.pair(weights)
	return t
}

// pair fills each row below the mean with what the rows above have too much.
// Weights are scaled by n, so that the mean is their sum; both stay below 2^63.
func (t *Table[T]) pair(scaled []uint64) {
	mean := uint64(0)
	for i, w := range scaled {
		mean += w
		scaled[i] = w * uint64(len(scaled))
	}
	small := make([]uint32, 0, len(scaled))
	large := make([]uint32, 0, len(scaled))
	for i, s := range scaled {
		if s < mean {
			small = append(small, uint32(i))
		} else {
			large = append(large, uint32(i))
		}
	}
	for len(small) > 0 {
		// While a row is below the mean another is above it.
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		t.rows[s].threshold, _ = bits.Div64(scaled[s], 0, mean)
		t.rows[s].items[1] = t.rows[l].items[0]
		if scaled[l] -= mean - scaled[s]; scaled[l] < mean {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	// Rows that are left hold exactly the mean: both items are the row's own.
}

// Len is the number of items that can be drawn.
func (t *Table[T]) Len() int { return t.n }

// Pick draws the item for a uniformly random r, or the zero T from an empty
// table. A probability is off by at most n/2^64.
func (t *Table[T]) Pick(r uint64) T {
	// The product's upper half chooses the row, its lower half is a uniform
	// fraction within it.
	i, fraction := bits.Mul64(r, uint64(len(t.rows)))
	row := &t.rows[i]
	_, own := bits.Sub64(fraction, row.threshold, 0) // 1 if the fraction is below
	return row.items[(own^1)&1]
}
