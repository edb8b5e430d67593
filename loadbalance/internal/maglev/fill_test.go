// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package maglev

import (
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-rpc/fairway/loadbalance/internal/keyhash"
)

func TestSizesArePrimesThatSuffice(t *testing.T) {
	for _, size := range sizes {
		if !big.NewInt(int64(size.slots)).ProbablyPrime(20) {
			t.Errorf("%d is not a prime", size.slots)
		}
		if size.items > size.slots {
			t.Errorf("%d slots for %d items", size.slots, size.items)
		}
	}
}

// TestFillLikeThePaper compares with items that walk through a table slot by
// slot until they meet a free one.
func TestFillLikeThePaper(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{2, 7, 251, 257, 1009, 4099}).Draw(t, "size")
		places := make([]place, rapid.IntRange(1, min(size, 40)).Draw(t, "n"))
		left := size - len(places)
		for i := range places {
			more := left
			if i < len(places)-1 {
				more = rapid.IntRange(0, left).Draw(t, "slots")
			}
			left -= more
			places[i] = place{hash: rapid.Uint64().Draw(t, "hash"), slots: uint32(1 + more)}
		}
		if got, want := fill(places), naive(places, size); !slices.Equal(got, want) {
			t.Fatalf("owners %v, want %v", got, want)
		}
	})
}

func naive(places []place, size int) []uint32 {
	const free = ^uint32(0)
	owners := slices.Repeat([]uint32{free}, size)
	rounds := (size + len(places) - 1) / len(places)
	at := make([]int, len(places))
	for i, p := range places {
		at[i] = int(slot(p.hash, size))
	}
	for round := range rounds {
		for i, p := range places {
			step := int(1 + slot(keyhash.Next(p.hash), size-1))
			for range int(p.slots)*(round+1)/rounds - int(p.slots)*round/rounds {
				for owners[at[i]] != free {
					at[i] = (at[i] + step) % size
				}
				owners[at[i]] = uint32(i)
			}
		}
	}
	return owners
}
