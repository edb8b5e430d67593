// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"sync"

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
	leaves    *sync.Map // of nodes, for one of several groups; nil if there is but one
}

var _ counter = (*leastActive)(nil)

func newLeastActive(c *config) engine { return &leastActive{rand: c.rand, perWeight: c.perWeight} }

// build swaps the list in under the tree's lock: the counts must not be taken
// from an old list while a new one is being made.
func (e *leastActive) build(list []*candidate, _ chooser) chooser {
	entries := make([]leastactive.Entry[*candidate], len(list))
	for i, c := range list {
		entries[i] = leastactive.Entry[*candidate]{Leaf: e.leaf(c.node), Value: c, Weight: c.share(), Capacity: e.capacity(c)}
	}
	e.tree.Reset(entries)
	e.forget(list)
	return e
}

// forget drops the leaves of nodes that are not listed any more: a call on one of
// these makes a new leaf if it is listed again.
func (e *leastActive) forget(list []*candidate) {
	if e.leaves == nil {
		return
	}
	listed := make(map[*node]struct{}, len(list))
	for _, c := range list {
		listed[c.node] = struct{}{}
	}
	e.leaves.Range(func(n, _ any) bool {
		if _, ok := listed[n.(*node)]; !ok {
			e.leaves.Delete(n)
		}
		return true
	})
}

// apart has the engine keep its own leaves: there are other groups, and a leaf
// belongs to one tree.
func (e *leastActive) apart() { e.leaves = &sync.Map{} }

func (e *leastActive) leaf(n *node) *leastactive.Leaf[*candidate] {
	if e.leaves == nil {
		return &n.leaf
	}
	if l, ok := e.leaves.Load(n); ok {
		return l.(*leastactive.Leaf[*candidate])
	}
	l := &leastactive.Leaf[*candidate]{}
	l.Share(&n.inFlight)
	had, _ := e.leaves.LoadOrStore(n, l)
	return had.(*leastactive.Leaf[*candidate])
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

func (e *leastActive) counted(n *node, _ int64) { e.tree.Refresh(e.leaf(n)) }
