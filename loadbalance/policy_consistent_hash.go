// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import "github.com/fairway-rpc/fairway/loadbalance/internal/hashring"

// consistentHash keeps a key with one instance, whoever asks.
type consistentHash struct{ virtualNodes int }

func newConsistentHash(c *config) engine { return consistentHash{virtualNodes: c.virtualNodes} }

func (e consistentHash) build(list []*candidate, prev chooser) chooser {
	var before *hashring.Ring[*candidate]
	if p, ok := prev.(*ringChooser); ok {
		before = p.ring
	}
	return &ringChooser{ring: newRing(list, e.virtualNodes, before)}
}

func newRing(list []*candidate, virtualNodes int, before *hashring.Ring[*candidate]) *hashring.Ring[*candidate] {
	items := make([]hashring.Item[*candidate], len(list))
	for i, c := range list {
		items[i] = hashring.Item[*candidate]{Value: c, Address: c.address, Weight: c.hashWeight(), Serving: c.share() > 0}
	}
	return hashring.New(items, virtualNodes, before)
}

type ringChooser struct{ ring *hashring.Ring[*candidate] }

func (r *ringChooser) choose(hash uint64, skip *skips) *candidate {
	if skip == nil {
		return r.ring.Lookup(hash)
	}
	c, _ := r.ring.LookupSkip(hash, skip.has)
	return c
}
