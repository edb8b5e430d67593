// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairway-rpc/fairway/internal/live"
	"github.com/fairway-rpc/fairway/loadbalance/internal/outlier"
)

// ejector finds outliers among the instances of a service. It works as long as
// there are calls, or instances that are to come back.
type ejector struct {
	service *service
	armed   atomic.Bool // a sweep is to come
	called  atomic.Bool // since the last sweep

	mu       sync.Mutex
	detector *outlier.Detector
	timer    *time.Timer
	nodes    []*node
	records  []*outlier.Record
}

// startEjecting is called once, when the service is made or the balancer told.
func (s *service) startEjecting(e *Ejection) {
	s.ejector.CompareAndSwap(nil, &ejector{service: s, detector: outlier.New(e.config())})
}

// call takes in how an attempt went.
func (e *ejector) call(n *node, now, took int64, failed bool) {
	limit := e.record(n).Call(now, took, failed)
	if !e.called.Load() {
		e.called.Store(true)
	}
	if limit || !e.armed.Load() && !e.armed.Swap(true) {
		e.sweepAfter(soon)
	}
}

// soon is when to sweep after a failure: those of other instances may follow.
const soon = 2 * time.Millisecond

func (e *ejector) record(n *node) *outlier.Record {
	if r := n.record.Load(); r != nil {
		return r
	}
	n.record.CompareAndSwap(nil, e.detector.NewRecord())
	return n.record.Load()
}

func (e *ejector) sweepAfter(d time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.plan(d)
}

// plan has the next sweep come after a time. Callers hold mu.
func (e *ejector) plan(d time.Duration) {
	if e.timer == nil {
		e.timer = time.AfterFunc(d, e.sweep)
	} else {
		e.timer.Reset(d)
	}
}

func (e *ejector) stop() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.timer != nil {
		e.timer.Stop()
	}
}

// sweepLater has the next sweep come if a table lists somebody who is ejected: one
// who was not there, or drained, was not waited for. Callers hold mu.
func (s *service) sweepLater(t *table) {
	e := s.ejector.Load()
	if e == nil || e.armed.Load() {
		return
	}
	back := func(c *candidate) bool { return c.serving && c.node.ejectedFor() != "" }
	if slices.ContainsFunc(t.list, back) && !e.armed.Swap(true) {
		e.sweepAfter(soon)
	}
}

// sweep ejects and brings back.
func (e *ejector) sweep() {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.service
	t := s.table.Load()
	if t == nil || s.life.is(gone) {
		return
	}
	e.gather(t)
	now := s.core.config.now()
	called := e.called.Swap(false)
	changes, next := e.detector.Sweep(now, e.records)
	for _, c := range changes {
		s.ejected(e.nodes[c.Index], c)
	}
	if len(changes) > 0 {
		s.changed()
	}
	if !called && !anyEjected(e.records) {
		e.armed.Store(false)
		if !e.called.Load() && s.table.Load() == t || e.armed.Swap(true) {
			return // the next call begins anew, or the next table
		}
	}
	e.plan(max(soon, time.Duration(next-now)))
}

// gather lists the instances that could get calls.
func (e *ejector) gather(t *table) {
	e.nodes, e.records = e.nodes[:0], e.records[:0]
	for _, c := range t.list {
		if c.serving {
			e.nodes, e.records = append(e.nodes, c.node), append(e.records, e.record(c.node))
		}
	}
}

func anyEjected(records []*outlier.Record) bool {
	for _, r := range records {
		if r.Ejected() {
			return true
		}
	}
	return false
}

// ejected notes a change. With health checks an instance that returns must be
// well first.
func (s *service) ejected(n *node, c outlier.Change) {
	if c.Returned {
		if h := s.health.Load(); h != nil && !c.Early {
			n.ill.Store(true)
			s.someAside.Store(true) // picks may just have stopped looking out
			if !h.checker.Check(n.address) {
				n.ill.Store(false) // no target any more
			}
		}
		s.core.tellReturned(n, c)
		return
	}
	s.someAside.Store(true)
	s.core.tellEjected(n, c)
}

// ejectedFor is why the node is ejected, "" if it is not.
func (n *node) ejectedFor() string {
	if r := n.record.Load(); r != nil {
		if e, ok := r.Ejection(); ok {
			return string(e.Cause)
		}
	}
	return ""
}

// failsClosed reports whether picks are to fail, since all who serve are closed.
func (s *service) failsClosed(list []*candidate) bool {
	e := s.core.ejection.Load()
	return e != nil && e.FailClosed && !slices.ContainsFunc(list, func(c *candidate) bool { return c.serving && !c.node.closed() })
}

// closesOtherwise reports whether something is closed by now that is not in the
// table, or the reverse: who is out may be so for another reason.
func (s *service) closesOtherwise(t *table) bool {
	differs := func(g *group) bool {
		return g.closed != (g.allAside && g.serving > 0 && s.failsClosed(g.list))
	}
	if differs(&t.group) {
		return true
	}
	if t.division != nil {
		for _, g := range t.division.groups {
			if differs(g) {
				return true
			}
		}
	}
	return false
}

func (c *core) tellEjected(n *node, change outlier.Change) {
	if told := c.onEject.Load(); told != nil {
		for resolver, f := range *told {
			if service, of := strings.CutPrefix(n.service.key, live.Key(resolver, "")); of {
				f(service, string(change.Ejection.Cause))
			}
		}
	}
	if held, ok := c.limiter.Allow("ejected " + n.service.key + " " + n.address); ok {
		e := change.Ejection
		c.log.Warn("an instance is ejected; calls avoid it for a while", append(c.about(n, held, slog.String("cause", string(e.Cause))),
			slog.Float64("value", e.Value), slog.Float64("compared_with", e.Peers), slog.Duration("for", time.Duration(e.Until-e.Since)))...)
	}
}

func (c *core) tellReturned(n *node, change outlier.Change) {
	if held, ok := c.limiter.Allow("returned " + n.service.key + " " + n.address); ok {
		c.log.Info("an ejected instance has a new chance", c.about(n, held, slog.String("cause", string(change.Ejection.Cause)))...)
	}
}
