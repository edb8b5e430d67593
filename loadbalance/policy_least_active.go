// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"github.com/fairway-rpc/fairway/loadbalance/internal/leastactive"
)

// leastActive takes the instance with the fewest calls in flight, of several by
// weighted random (Dubbo's rule). Choosing and counting are one step, so that
// callers who choose at the same moment spread. For an instance that warms up
// the calls count for as much more as it is colder, since with few calls it would
// have many at once; with perWeight they are divided by the weight.
type leastActive struct {
	rand      Rand
	perWeight bool
	tree      leastactive.Tree[*candidate]
	leaves    *byNode[nodeLeaf] // for one of several groups; nil if there is but one
}

var _ counter = (*leastActive)(nil)

func newLeastActive(c *config) engine { return &leastActive{rand: c.rand, perWeight: c.perWeight} }

// build swaps the list in under the tree's lock: the counts must not be taken
// from an old list while a new one is being made.
func (e *leastActive) build(list []*candidate, _ chooser) chooser {
	if e.leaves != nil {
		e.leaves.keep(list, e.newLeaf, func(*node, *nodeLeaf) {})
	}
	entries := make([]leastactive.Entry[*candidate], len(list))
	for i, c := range list {
		entries[i] = leastactive.Entry[*candidate]{Leaf: e.leaf(c.node), Value: c, Weight: c.share(), Capacity: e.capacity(c)}
	}
	e.tree.Reset(entries)
	return e
}

// apart has the engine keep its own leaves: there are other groups, and a leaf
// belongs to one tree.
func (e *leastActive) apart() { e.leaves = &byNode[nodeLeaf]{} }

type nodeLeaf = leastactive.Leaf[*candidate]

// newLeaf is the leaf of a node that comes into the group, with what is known of it.
func (e *leastActive) newLeaf(n *node) *nodeLeaf {
	l := &nodeLeaf{}
	l.Share(&n.inFlight)
	e.tree.Slow(l, n.history.Slowness())
	return l
}

// leaf is nil for a node that is not in the group.
func (e *leastActive) leaf(n *node) *nodeLeaf {
	if e.leaves == nil {
		return &n.leaf
	}
	return e.leaves.find(n)
}

func (e *leastActive) capacity(c *candidate) float64 {
	capacity := float64(c.warmth) / warm
	if e.perWeight {
		capacity *= float64(c.placed)
	}
	return capacity
}

func (e *leastActive) choose(_ uint64, skip *skips) *candidate {
	var passOver func(*candidate) bool
	if skip != nil {
		passOver = skip.has
	}
	c, _, _ := e.tree.Acquire(e.rand, passOver)
	return c
}

func (e *leastActive) counted(n *node, _ int64) {
	if l := e.leaf(n); l != nil {
		e.tree.Refresh(l)
	}
}

func (e *leastActive) slow(n *node, slowness float64) {
	if l := e.leaf(n); l != nil {
		e.tree.Slow(l, slowness)
	}
}
