// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"time"

	"github.com/fairway-rpc/fairway/loadbalance/internal/alias"
)

// againAfter is how long an instance that loses each time is not picked at most:
// then it is tried, since what is known of it is old.
const againAfter = int64(500 * time.Millisecond)

// p2c takes the better one of two instances that are drawn by weight. Whoever has
// lost for half a second is tried when it is drawn, by one call.
type p2c struct{ config *config }

var _ counter = (*p2c)(nil)

func newP2C(c *config) engine { return &p2c{config: c} }

func (e *p2c) build(list []*candidate, _ chooser) chooser {
	p := &p2cChooser{engine: e, list: list, table: *alias.New(list, (*candidate).share)}
	serving := 0
	for _, c := range list {
		if share := c.share(); share > 0 {
			p.weight += float64(share)
			serving++
		}
	}
	p.weight /= float64(max(serving, 1))
	return p
}

type p2cChooser struct {
	engine *p2c
	list   []*candidate
	table  alias.Table[*candidate]
	weight float64 // the mean of those who serve
}

func (p *p2cChooser) choose(_ uint64, skip *skips) *candidate {
	c := p.draw(nil, skip)
	if c == nil {
		if c = leftover(p.list, skip, p.engine.config.rand.Uint64(), (*candidate).share); c == nil {
			return nil
		}
	} else if other := p.draw(c, skip); other != nil {
		c = p.better(c, other)
	}
	c.node.inFlight.Add(1)
	return c
}

// draw returns somebody else, or nil if a few draws find nobody.
func (p *p2cChooser) draw(but *candidate, skip *skips) *candidate {
	for range redraws {
		if c := p.table.Pick(p.engine.config.rand.Uint64()); c != but && (skip == nil || !skip.has(c)) {
			return c
		}
	}
	return nil
}

func (p *p2cChooser) better(a, b *candidate) *candidate {
	if p.cost(b) < p.cost(a) {
		a, b = b, a
	}
	now := p.engine.config.now()
	if last := b.node.picked.Load(); now-last > againAfter && b.node.picked.CompareAndSwap(last, now) {
		return b
	}
	a.node.picked.Store(now)
	return a
}

// cost is how long a call would take: how slow the instance is, times one more
// than the calls in flight for the weight. Idle instances that are alike are equal,
// so that they get what they are drawn for.
func (p *p2cChooser) cost(c *candidate) float64 {
	return c.node.history.Slowness() * (1 + float64(c.node.inFlight.Load())*p.weight/float64(c.share()))
}

// counted has nothing to do: the node's own count is all that is read.
func (e *p2c) counted(*node, int64) {}
