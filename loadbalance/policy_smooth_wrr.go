// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import "github.com/fairway-rpc/fairway/loadbalance/internal/smoothwrr"

// smoothWRR goes round by weight in nginx's order.
type smoothWRR struct{ rand Rand }

func newSmoothWRR(c *config) engine { return smoothWRR{rand: c.rand} }

func (e smoothWRR) build(list []*candidate, prev chooser) chooser {
	var before *smoothwrr.Sequence[*candidate]
	if p, ok := prev.(*wrrChooser); ok {
		before = p.sequence
	}
	return &wrrChooser{rand: e.rand, list: list, sequence: smoothwrr.New(list, (*candidate).share, before)}
}

var _ finisher = (*wrrChooser)(nil)

type wrrChooser struct {
	rand     Rand
	list     []*candidate
	sequence *smoothwrr.Sequence[*candidate]
}

func (w *wrrChooser) choose(_ uint64, skip *skips) *candidate {
	c := w.sequence.Next()
	if skip == nil {
		return c
	}
	for range redraws {
		if !skip.has(c) {
			return c
		}
		c = w.sequence.Next()
	}
	return leftover(w.list, skip, w.rand.Uint64(), (*candidate).share)
}

func (w *wrrChooser) provisional() bool { return w.sequence.Provisional() }

func (w *wrrChooser) finish() chooser {
	return &wrrChooser{rand: w.rand, list: w.list, sequence: w.sequence.Finish()}
}
