// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package smoothwrr

// cycle is nginx's order, written down. It repeats after sum(weights)/gcd
// turns, when everybody has paid what they gained.
type cycle struct{ turns []uint32 }

func newCycle(weights []uint64, divisor, turns uint64) cycle {
	c := cycle{turns: make([]uint32, turns)}
	gain := make([]int64, len(weights))
	for i, w := range weights {
		gain[i] = int64(w / divisor)
	}
	current := make([]int64, len(weights))
	for t := range c.turns {
		best := 0
		for i := range current {
			current[i] += gain[i]
			if current[i] > current[best] {
				best = i
			}
		}
		current[best] -= int64(turns)
		c.turns[t] = uint32(best)
	}
	return c
}

func (c cycle) at(turn uint64) uint32 { return c.turns[turn%uint64(len(c.turns))] }
func (c cycle) period() uint64        { return uint64(len(c.turns)) }
