// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package smoothwrr

import "slices"

// The work of computing nginx's cycle is items times turns. Some ten thousand
// steps take no longer than the rest of a change does; four million are the
// most that are ever done, away from changes.
const (
	quickSteps = 1 << 14
	maxSteps   = 1 << 22
)

// order says whose turn it is, by a table of one cycle or by a rotation.
type order struct {
	weights  []uint64
	cycle    divisor  // the length of nginx's cycle, whether it is laid out or not
	table    []uint32 // of indices, nil with a rotation
	rotation rotation
}

// newOrder lays out nginx's cycle if that takes no more than the steps, and a
// rotation otherwise.
func newOrder(weights []uint64, steps uint64) *order {
	n := uint64(len(weights))
	common, total := weights[0], uint64(0)
	equal := true
	for _, w := range weights {
		if common > 1 {
			common = gcd(common, w)
		}
		total += w
		equal = equal && w == weights[0]
	}
	turns := total / common
	o := &order{weights: weights, cycle: newDivisor(turns)}
	switch {
	case equal:
		o.table = listOrder(n)
	case turns <= steps/n:
		o.table = nginxOrder(weights, common, turns)
	default:
		o.rotation = newRotation(weights, total)
	}
	return o
}

// changed is the order of other weights, or the same if they are not.
func (o *order) changed(weights []uint64) *order {
	if slices.Equal(o.weights, weights) {
		return o
	}
	return newOrder(weights, quickSteps)
}

func (o *order) provisional() bool {
	return o.table == nil && o.cycle.by <= maxSteps/uint64(len(o.weights))
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// listOrder is nginx's order for equal weights.
func listOrder(n uint64) []uint32 {
	table := make([]uint32, n)
	for i := range table {
		table[i] = uint32(i)
	}
	return table
}

// nginxOrder carries out nginx's steps for one cycle, after which everybody has
// paid what they gained. Of equals the first in the list gets the turn.
func nginxOrder(weights []uint64, common, turns uint64) []uint32 {
	gain := make([]int64, len(weights))
	for i, w := range weights {
		gain[i] = int64(w / common)
	}
	current := make([]int64, len(weights))
	table := make([]uint32, turns)
	for t := range table {
		best, most := 0, int64(-1) // the sum of all is above 0, so the greatest is, too
		for i, g := range gain {
			now := current[i] + g
			current[i] = now
			if now > most {
				best, most = i, now
			}
		}
		current[best] -= int64(turns)
		table[t] = uint32(best)
	}
	return table
}
