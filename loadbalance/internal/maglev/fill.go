// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package maglev

import "github.com/fairway-rpc/fairway/loadbalance/internal/keyhash"

// taker is an item on its way through the table: it visits every slot once, in
// steps of its own.
type taker struct {
	at, step uint32
	slots    uint32 // wanted in all
	due      uint32 // in this round, times the number of rounds
	owner    uint32
}

func newTaker(p place, owner uint32, size int) taker {
	return taker{
		at:    uint32(slot(p.hash, size)),
		step:  uint32(1 + slot(keyhash.Next(p.hash), size-1)),
		slots: p.slots,
		owner: owner,
	}
}

// fill makes the slots' owners, as indices of the places. The items take slots
// in rounds, each in every round the same part of all that it gets.
func fill(places []place) []uint32 {
	size, takers := takersOf(places)
	if len(takers) == 0 {
		return nil
	}
	owners := make([]uint32, size)
	free := newSlots(size)
	rounds := uint32((size + len(takers) - 1) / len(takers)) // one slot on average in each
	for range rounds {
		for i := range takers {
			t := &takers[i]
			for t.due += t.slots; t.due >= rounds; t.due -= rounds {
				owners[free.take(t)] = t.owner
			}
		}
	}
	return owners
}

func takersOf(places []place) (size int, takers []taker) {
	takers = make([]taker, 0, len(places))
	for _, p := range places {
		size += int(p.slots)
	}
	for i, p := range places {
		if p.slots > 0 {
			takers = append(takers, newTaker(p, uint32(i), size))
		}
	}
	return size, takers
}
