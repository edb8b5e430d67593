// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import "github.com/fairway-rpc/fairway/loadbalance/internal/maglev"

// maglevHash keeps a key with one instance by a table, whoever asks.
type maglevHash struct{}

func newMaglev(*config) engine { return maglevHash{} }

func (maglevHash) build(list []*candidate, prev chooser) chooser {
	items := make([]maglev.Item[*candidate], len(list))
	for i, c := range list {
		items[i] = maglev.Item[*candidate]{Value: c, Address: c.address, Weight: c.hashWeight(), Serving: c.share() > 0}
	}
	var before *maglev.Table[*candidate]
	if p, ok := prev.(*maglevChooser); ok {
		before = p.table
	}
	return &maglevChooser{table: maglev.New(items, before)}
}

type maglevChooser struct{ table *maglev.Table[*candidate] }

func (m *maglevChooser) choose(hash uint64, skip *skips) *candidate {
	if skip == nil {
		return m.table.Lookup(hash)
	}
	c, _ := m.table.LookupSkip(hash, skip.has)
	return c
}
