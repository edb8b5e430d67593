// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import "github.com/fairway-rpc/fairway/loadbalance/internal/alias"

// weightedRandom draws independently by weight.
type weightedRandom struct{ rand Rand }

func newWeightedRandom(c *config) engine { return weightedRandom{rand: c.rand} }

func (e weightedRandom) build(list []*candidate, _ chooser) chooser {
	return &randomChooser{rand: e.rand, list: list, table: alias.New(list, (*candidate).share)}
}

type randomChooser struct {
	rand  Rand
	list  []*candidate
	table *alias.Table[*candidate]
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
	return leftover(r.list, skip, r.rand.Uint64(), (*candidate).share)
}
