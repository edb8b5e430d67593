// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import "github.com/fairway-rpc/fairway/loadbalance/internal/smoothwrr"

// roundRobin goes round, by weight in nginx's order or one after another.
type roundRobin struct {
	rand  generator
	share func(*candidate) uint64
}

func newSmoothWRR(c *config) engine { return roundRobin{rand: c.rand, share: (*candidate).share} }

func newRoundRobin(c *config) engine { return roundRobin{rand: c.rand, share: (*candidate).presence} }

func (e roundRobin) build(list []*candidate, prev chooser) chooser {
	var before *smoothwrr.Sequence[*candidate]
	if p, ok := prev.(*roundChooser); ok {
		before = &p.sequence
	}
	return &roundChooser{roundRobin: e, list: list, sequence: *smoothwrr.New(list, e.share, before)}
}

var _ finisher = (*roundChooser)(nil)

type roundChooser struct {
	roundRobin

	list     []*candidate
	sequence smoothwrr.Sequence[*candidate] // not a pointer, which picks would follow
}

func (r *roundChooser) choose(_ uint64, skip *skips) *candidate {
	c := r.sequence.Next()
	if skip == nil {
		return c
	}
	for range redraws {
		if !skip.has(c) {
			return c
		}
		c = r.sequence.Next()
	}
	return leftover(r.list, skip, r.rand.Uint64(), r.share)
}

func (r *roundChooser) provisional() bool { return r.sequence.Provisional() }

func (r *roundChooser) finish() chooser {
	return &roundChooser{roundRobin: r.roundRobin, list: r.list, sequence: *r.sequence.Finish()}
}
