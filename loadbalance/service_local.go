// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"github.com/fairway-rpc/fairway/internal/live"
	"github.com/fairway-rpc/fairway/loadbalance/internal/hashring"
)

// newLocalService is a service whose lists come from a selector.
func newLocalService(c *core) *service {
	s := &service{core: c, nodes: make(map[string]*node)}
	s.engage(false)
	s.show(nil)
	return s
}

// local marks the lists of selectors, whose instances can be compared.
var local = &live.Set{}

func (s *service) show(nodes []*live.Node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.swap(s.newTable(nodes, local, s.table.Load()))
}

// selectBy picks without Kitex and counts.
func (s *service) selectBy(key string) (*candidate, error) {
	t := s.table.Load()
	if t.tally.serving == 0 {
		return nil, t.none()
	}
	var hash uint64
	switch {
	case key != "":
		hash = hashring.Hash(key)
	case s.hash == nil:
	case s.core.policy.keyless || s.core.policy.mayHash:
		hash, _ = s.hash(nil, nil)
	case s.core.config.optionalKey:
		hash = s.core.config.rand.Uint64()
	default:
		return nil, ErrNoKey
	}
	c := t.chooser.choose(hash, nil)
	if c == nil {
		return nil, ErrAllDrained
	}
	if s.counter == nil {
		c.node.Begin()
	}
	return c, nil
}
