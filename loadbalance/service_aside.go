// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"log/slog"
	"time"
)

// setAside has picks look out for nodes that are aside, and the table built
// without the node now and with it when a call may be let through.
func (s *service) setAside(a *aside) {
	s.someAside.Store(true)
	s.changed()
	time.AfterFunc(time.Until(a.until), s.changed)
}

// setBack has the table built with the node. If all others are aside, what ails
// them may have been on this side and be over: they are tried soon, so that one
// instance does not bear the load of all until their delays are over.
func (s *service) setBack(n *node) {
	t := s.table.Load()
	for _, c := range t.list {
		if c.serving && c.node != n && c.node.aside.Load() == nil {
			s.changed()
			return
		}
	}
	now := time.Now()
	for _, c := range t.list {
		c.node.hasten(now)
	}
	s.changed()
}

// noteAside stops picks from looking out when nobody is aside. It looks twice:
// who is set aside in between has raised the flag, or is seen. Callers hold mu.
func (s *service) noteAside() {
	if !s.someAside.Load() || s.hasAside() {
		return
	}
	s.someAside.Store(false)
	if s.hasAside() {
		s.someAside.Store(true)
	}
}

func (s *service) hasAside() bool {
	for _, n := range s.nodes {
		if n.avoided() {
			return true
		}
	}
	return false
}

// tellAside and tellBack log, once in a while for each instance.
func (c *core) tellAside(n *node, a *aside) {
	if held, ok := c.limiter.Allow("aside " + n.service.key + " " + n.address); ok {
		c.log.Warn("no connection to an instance; calls avoid it for a while", c.about(n, held,
			slog.Duration("for", time.Until(a.until).Round(time.Millisecond)))...)
	}
}

func (c *core) tellBack(n *node, before *aside) {
	if held, ok := c.limiter.Allow("back " + n.service.key + " " + n.address); ok {
		c.log.Info("calls go to an instance again", c.about(n, held,
			slog.Duration("after_its_last_failure", time.Since(before.failed).Round(time.Millisecond)))...)
	}
}

func (c *core) about(n *node, held int, more slog.Attr) []any {
	attrs := []any{slog.String("service", n.service.key), slog.String("instance", n.address), more}
	if held > 0 {
		attrs = append(attrs, slog.Int("repeated", held))
	}
	return attrs
}
