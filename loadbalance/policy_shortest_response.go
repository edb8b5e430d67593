// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import "sync/atomic"

// shortestResponse is leastActive whose calls count for as much more as the
// instance is slower than the mean, or as they fail, in steps of half an octave;
// between those that are alike weights decide. One of which nothing is known
// counts as the mean. One that is slow and was not picked for half a second counts
// as fast for a call, so that what is known of it does not grow old.
type shortestResponse struct {
	leastActive

	list  atomic.Pointer[[]*candidate]
	swept atomic.Int64 // when those who are not picked were looked for
}

var (
	_ counter = (*shortestResponse)(nil)
	_ pacer   = (*shortestResponse)(nil)
)

func newShortestResponse(c *config) engine {
	return &shortestResponse{leastActive: leastActive{rand: c.rand, perWeight: c.perWeight}}
}

func (e *shortestResponse) build(list []*candidate, prev chooser) chooser {
	e.list.Store(&list)
	e.leastActive.build(list, prev)
	return e
}

func (e *shortestResponse) paced(n *node, now int64) {
	e.slow(n, n.history.Slowness())
	if swept := e.swept.Load(); now-swept > againAfter/4 && e.swept.CompareAndSwap(swept, now) {
		go e.sweep(now)
	}
}

// asFast makes a call on an idle instance the cheapest there is, and a second one
// dearer than that on any idle one that is not slow.
const asFast = 0.51

// sweep has those tried again who are slow and idle, and whose last call will have
// ended more than half a second ago before the next sweep.
func (e *shortestResponse) sweep(now int64) {
	for _, c := range *e.list.Load() {
		n := c.node
		if n.history.Slowness() > 1 && now-n.history.Last() > againAfter*3/4 && n.active() == 0 {
			e.slow(n, asFast)
		}
	}
}
