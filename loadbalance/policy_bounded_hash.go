// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"math"
	"sync/atomic"

	"github.com/fairway-rpc/fairway/loadbalance/internal/hashring"
)

// boundedHash is consistentHash whose instances have at most a factor of their
// share of the calls in flight, rounded up. Whoever is full is passed over, to
// who has the points after. Calls are counted with the choice, so that the bound
// holds for callers that choose at the same moment, too.
type boundedHash struct {
	virtualNodes int
	factor       float64
	seats        *byNode[boundedSeat] // for one of several groups; nil if there is but one

	_     [64]byte // callers share what follows, and only read what is above
	total atomic.Int64
	_     [56]byte
}

var _ counter = (*boundedHash)(nil)

func newBoundedHash(c *config) engine {
	return &boundedHash{virtualNodes: c.virtualNodes, factor: c.loadFactor}
}

func (e *boundedHash) build(list []*candidate, prev chooser) chooser {
	if e.seats != nil {
		e.seat(list)
	}
	var before *hashring.Ring[*candidate]
	if p, ok := prev.(*boundedChooser); ok {
		before = p.ring
	}
	b := &boundedChooser{engine: e, ring: newRing(list, e.virtualNodes, before)}
	for _, c := range list {
		b.weight += float64(c.share())
	}
	return b
}

type boundedChooser struct {
	engine *boundedHash
	ring   *hashring.Ring[*candidate]
	weight float64 // of all that serve
}

// choose looks again when everybody is full, which cannot be but for calls that
// others have counted since the total was read. Then the key's own has it.
func (b *boundedChooser) choose(hash uint64, skip *skips) *candidate {
	total := b.engine.total.Add(1)
	for range 3 {
		c, ok := b.ring.LookupSkip(hash, func(c *candidate) bool { return skip.has(c) || !c.node.beginUpTo(b.bound(c, total)) })
		if ok {
			b.engine.chosen(c.node)
			return c
		}
		total = b.engine.total.Load()
	}
	c, ok := b.ring.LookupSkip(hash, skip.has)
	if !ok {
		b.engine.total.Add(-1)
		return nil
	}
	c.node.inFlight.Add(1)
	b.engine.chosen(c.node)
	return c
}

// bound is how many calls a candidate may have when there are so many in all.
func (b *boundedChooser) bound(c *candidate, total int64) int64 {
	return int64(math.Ceil(b.engine.factor * float64(total) * float64(c.share()) / b.weight))
}

// beginUpTo counts a call unless there are as many as the bound.
func (n *node) beginUpTo(bound int64) bool {
	for {
		active := n.inFlight.Load()
		if active >= bound {
			return false
		}
		if n.inFlight.CompareAndSwap(active, active+1) {
			return true
		}
	}
}
