// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import "github.com/fairway-rpc/fairway/internal/live"

// table is one immutable list of a service, ready to pick from.
type table struct {
	chooser      chooser
	list         []*candidate
	byAddress    map[string]*candidate
	servingCount int
	set          *live.Set // nil for a plain result
}

// newTable builds a table after prev, which is nil at first. Of two instances
// with one address the later counts.
func (s *service) newTable(nodes []live.Node, set *live.Set, prev *table) *table {
	t := &table{
		list:      make([]*candidate, 0, len(nodes)),
		byAddress: make(map[string]*candidate, len(nodes)),
		set:       set,
	}
	for _, n := range nodes {
		c := newCandidate(n, s.node(n.Address))
		if old := t.byAddress[n.Address]; old != nil {
			*old = *c
			continue
		}
		t.byAddress[n.Address] = c
		t.list = append(t.list, c)
	}
	for _, c := range t.list {
		if c.serving {
			t.servingCount++
		}
	}
	var before chooser
	if prev != nil {
		before = prev.chooser
	}
	t.chooser = s.engine.build(t.list, before)
	return t
}

// none says why nobody can be picked.
func (t *table) none() error {
	if len(t.list) == 0 {
		return ErrEmpty
	}
	return ErrAllDrained
}
