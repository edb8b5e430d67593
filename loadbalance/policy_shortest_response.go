// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"sync/atomic"

	"github.com/fairway-rpc/fairway/loadbalance/internal/ewma"
)

// shortestResponse is leastActive whose calls count for as much more as the
// instance is slower. An instance of which nothing is known counts as the mean.
// One that is slow and was not picked for a second counts as fast for a call, so
// that what is known of it does not grow old.
type shortestResponse struct {
	leastActive

	list  atomic.Pointer[[]*candidate]
	mean  ewma.Mean
	swept atomic.Int64 // when those who are not picked were looked for
}

var (
	_ counter = (*shortestResponse)(nil)
	_ timer   = (*shortestResponse)(nil)
)

func newShortestResponse(c *config) engine {
	return &shortestResponse{leastActive: leastActive{rand: c.rand, perWeight: c.perWeight}}
}

func (e *shortestResponse) build(list []*candidate, prev chooser) chooser {
	mean := e.mean.Value()
	for _, c := range list {
		if c.node.latency.Estimate() == 0 {
			e.tree.Slow(&c.node.leaf, mean)
		}
	}
	e.list.Store(&list)
	e.leastActive.build(list, prev)
	return e
}

func (e *shortestResponse) took(n *node, now, took int64, failed bool) {
	n.latency.Observe(now, took, failed)
	if !failed {
		e.mean.Observe(now, took)
	}
	e.tree.Slow(&n.leaf, n.latency.Estimate())
	if swept := e.swept.Load(); now-swept > againAfter/4 && e.swept.CompareAndSwap(swept, now) {
		go e.sweep(now)
	}
}

// sweep has those tried again who are slow and idle, and whose last call will have
// ended more than a second ago before the next sweep.
func (e *shortestResponse) sweep(now int64) {
	mean := e.mean.Value()
	for _, c := range *e.list.Load() {
		n := c.node
		if n.latency.Estimate() > mean && now-n.latency.Last() > againAfter*3/4 && n.leaf.Count() == 0 {
			e.tree.Slow(&n.leaf, mean/2)
		}
	}
}
