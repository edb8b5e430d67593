// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package maglev

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/fairway-rpc/fairway/loadbalance/internal/keyhash"
)

// place is what decides which slots an item gets.
type place struct {
	address string
	hash    uint64 // of the address
	slots   uint32 // how many
}

// sizes are the numbers of slots that a table may have: primes, far apart, since
// nearly every key moves from one size to the next.
var sizes = [...]struct{ slots, items int }{
	{slots: 131_101, items: 1311},       // at least 100 slots each
	{slots: 1_048_583, items: 104_858},  // at least 100 each up to 10,485, 10 above
	{slots: 16_777_259, items: 1 << 24}, // so that everybody has one
}

// sizeFor is the number of slots for so many items of a weight above 0.
func sizeFor(items int) int {
	for _, size := range sizes {
		if items <= size.items {
			return size.slots
		}
	}
	return sizes[len(sizes)-1].slots
}

// placesOf divides the table among the items, which are ordered by address.
func placesOf[T any](items []Item[T]) []place {
	places := make([]place, len(items))
	weights := make([]uint64, len(items))
	weighing := 0
	for i, item := range items {
		places[i] = place{address: item.Address, hash: keyhash.String(item.Address)}
		weights[i] = item.Weight
		if item.Weight > 0 {
			weighing++
		}
	}
	if weighing > 0 {
		divide(places, weights, uint64(sizeFor(weighing)))
	}
	return places
}

// divide gives each item its weight times one factor, rounded to the nearest,
// but at least one slot for a weight above 0. The factor is the greatest with
// which the slots suffice, and those left over go to whom a factor a little
// greater gives one more, by the order of the addresses' hashes. (Webster's
// method: when somebody joins or becomes heavier, the factor falls, so that
// nobody else gains a slot and none moves for the division's sake alone.)
func divide(places []place, weights []uint64, size uint64) {
	// The heaviest has the 32nd bit set then, so that the factor, a fraction of
	// 64 bits, is precise whatever the unit of the weights, and below 2^58.
	unit := 32 - bits.Len64(slices.Max(weights))
	for i := range weights {
		weights[i] <<= unit
	}
	low, high := uint64(0), uint64(1)<<58 // enough, too many
	for high-low > 1 {
		if middle := (low + high) / 2; enough(weights, middle, size) {
			low = middle
		} else {
			high = middle
		}
	}
	left := size
	var next []uint32
	for i, w := range weights {
		n := share(w, low)
		places[i].slots = uint32(n)
		left -= n
		if share(w, high) > n {
			next = append(next, uint32(i))
		}
	}
	slices.SortStableFunc(next, func(a, b uint32) int { return cmp.Compare(places[a].hash, places[b].hash) })
	for _, i := range next[:left] {
		places[i].slots++
	}
}

func share(weight, factor uint64) uint64 {
	if weight == 0 {
		return 0
	}
	whole, fraction := bits.Mul64(weight, factor)
	return max(1, whole+fraction>>63)
}

// enough reports whether the slots suffice for shares by the factor.
func enough(weights []uint64, factor, size uint64) bool {
	sum := uint64(0)
	for _, w := range weights {
		if sum += share(w, factor); sum > size {
			return false
		}
	}
	return true
}
