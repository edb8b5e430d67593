// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package leastactive

import (
	"math"
	"math/bits"
)

// node is the outcome below it: the lowest cost, and the weight of all who have
// it, which makes ties fair. Sums stay below 2^64 with up to
// 2^33 items.
type node struct {
	cost   int64
	weight uint64
}

// nobody loses against everybody.
var nobody = node{cost: math.MaxInt64}

// group is four nodes that play against each other. It is one cache line, so
// that a level costs one access to memory.
type group [4]node

// winner is the outcome of a group. It has no branches, since they could not be
// predicted.
func (g *group) winner() node {
	cost := min(min(g[0].cost, g[1].cost), min(g[2].cost, g[3].cost))
	return node{
		cost:   cost,
		weight: g[0].tied(cost) + g[1].tied(cost) + g[2].tied(cost) + g[3].tied(cost),
	}
}

// tied is the node's weight if it has the lowest cost, and 0 if it has a higher one.
func (n *node) tied(cost int64) uint64 {
	return n.weight & uint64((n.cost-cost-1)>>63) // all ones if the difference is 0
}

// draw finds the node at a distance into the weights of those that have the
// lowest cost, and how far into that node it is.
func (g *group) draw(cost int64, at uint64) (which int, rest uint64) {
	w0, w1, w2 := g[0].tied(cost), g[1].tied(cost), g[2].tied(cost)
	_, in0 := bits.Sub64(at, w0, 0) // 1 if at is below
	_, in1 := bits.Sub64(at, w0+w1, 0)
	_, in2 := bits.Sub64(at, w0+w1+w2, 0)
	// Subtracting 1 makes a mask of all ones where at is beyond.
	return int(3 - in0 - in1 - in2), at - w0&(in0-1) - w1&(in1-1) - w2&(in2-1)
}

// tournament is a tree of groups: the topmost comes first, and below node k of
// group g is group 4g+k+1. The items are the nodes of the lowest level.
type tournament struct {
	groups []group
	lowest int // the first group of the lowest level
}

// newTournament makes a tree for n items, all of them nobody.
func newTournament(n int) tournament {
	lowest, width := 0, 1
	for 4*width < n {
		lowest += width
		width *= 4
	}
	t := tournament{groups: make([]group, lowest+max(1, (n+3)/4)), lowest: lowest}
	for i := range t.groups {
		t.groups[i] = group{nobody, nobody, nobody, nobody}
	}
	return t
}

// place sets an item without playing.
func (t *tournament) place(item int, n node) { t.groups[t.lowest+item/4][item%4] = n }

// play works out the whole tree from the items.
func (t *tournament) play() {
	for g := len(t.groups) - 1; g > 0; g-- {
		t.groups[(g-1)/4][(g-1)%4] = t.groups[g].winner()
	}
}

// set changes an item and plays its matches again, as far up as they change.
func (t *tournament) set(item int, n node) {
	g := uint(t.lowest + item/4)
	t.groups[g][item%4] = n
	for g > 0 {
		n = t.groups[g].winner()
		above := &t.groups[(g-1)/4][(g-1)%4]
		if *above == n {
			return
		}
		*above = n
		g = (g - 1) / 4
	}
}

// find descends to one of the best items, each with the probability of its
// weight, given a uniformly random r. It is false if there is nobody.
func (t *tournament) find(r uint64) (item int, ok bool) {
	if len(t.groups) == 0 {
		return 0, false
	}
	best := t.groups[0].winner()
	if best.weight == 0 {
		return 0, false
	}
	at, _ := bits.Mul64(r, best.weight)
	for g := 0; ; {
		k, rest := t.groups[g].draw(best.cost, at)
		if g >= t.lowest {
			return 4*(g-t.lowest) + k, true
		}
		g, at = 4*g+k+1, rest
	}
}
