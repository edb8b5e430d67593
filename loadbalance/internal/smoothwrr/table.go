// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package smoothwrr

// maxSteps bounds the work of computing nginx's cycle: items times turns.
const maxSteps = 1 << 22

// newTable writes down the order of the weights, in the way that fits them.
func newTable(weights []uint64) ([]uint32, *floats) {
	n := uint64(len(weights))
	common, total := weights[0], uint64(0)
	equal := true
	for _, w := range weights {
		common = gcd(common, w)
		total += w
		equal = equal && w == weights[0]
	}
	switch turns := total / common; {
	case equal:
		return listOrder(n), nil
	case turns <= maxSteps/n:
		return nginxOrder(weights, common, turns), nil
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
