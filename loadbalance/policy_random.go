// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import "github.com/fairway-rpc/fairway/loadbalance/internal/alias"

// random draws independently, by weight or uniformly.
type random struct {
	rand  generator
	share func(*candidate) uint64
}

func newWeightedRandom(c *config) engine { return random{rand: c.rand, share: (*candidate).share} }

func newRandom(c *config) engine { return random{rand: c.rand, share: (*candidate).presence} }

func (e random) build(list []*candidate, _ chooser) chooser {
	return &randomChooser{random: e, list: list, table: *alias.New(list, e.share)}
}

type randomChooser struct {
	random

	list  []*candidate
	table alias.Table[*candidate] // not a pointer, which picks would follow
}

// redraws is how often a retry draws again before it looks at the whole list.
const redraws = 4

func (r *randomChooser) choose(_ uint64, skip *skips) *candidate {
	c := r.table.Pick(r.rand.Uint64())
	if skip == nil {
		return c
	}
	for range redraws {
		if !skip.has(c) {
			return c
		}
		c = r.table.Pick(r.rand.Uint64())
	}
	return leftover(r.list, skip, r.rand.Uint64(), r.share)
}
