// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"sync/atomic"
	"time"

	"github.com/fairway-rpc/fairway/internal/live"
	"github.com/fairway-rpc/fairway/internal/pick"
	"github.com/fairway-rpc/fairway/loadbalance/internal/leastactive"
	"github.com/fairway-rpc/fairway/loadbalance/internal/outlier"
	"github.com/fairway-rpc/fairway/loadbalance/internal/pace"
)

var _ pick.Node = (*node)(nil)

// node is what is learnt about an address. It stays when the list changes
// around it.
type node struct {
	service  *service
	address  string
	inFlight atomic.Int64
	seats    atomic.Pointer[[]*place] // the groups that take account of its calls, if there are several
	leaf     leastactive.Leaf[*candidate]
	history  pace.History          // for policies that go by it
	picked   atomic.Int64          // when, for policies that try again who is not picked
	aside    atomic.Pointer[aside] // nil for almost all
	unseen   atomic.Pointer[aside] // the last trial that was taken for a success
	suspect  atomic.Pointer[live.Suspect]
	record   atomic.Pointer[outlier.Record] // of calls, nil without ejection
	ill      atomic.Bool                    // health checks say so
}

// avoided reports whether calls go to others, if there are any.
func (n *node) avoided() bool { return n.aside.Load() != nil || n.closed() }

// closed reports whether no call is to try it: it is ejected, or unhealthy.
func (n *node) closed() bool {
	r := n.record.Load()
	return n.ill.Load() || r != nil && r.Ejected()
}

// Begin implements pick.Node.
func (n *node) Begin() {
	n.inFlight.Add(1)
	if c := n.service.counter; c != nil {
		c.counted(n, 1)
	}
}

// End implements pick.Node.
func (n *node) End() {
	n.inFlight.Add(-1)
	if c := n.service.counter; c != nil {
		c.counted(n, -1)
	}
}

// active is the number of calls in flight.
func (n *node) active() int64 { return max(0, n.inFlight.Load()) }

// Doubt implements pick.Node.
func (n *node) Doubt() uint64 {
	if s := n.suspect.Load(); s != nil {
		return s.Begin()
	}
	return 0
}

// Done implements pick.Node.
func (n *node) Done(o pick.Outcome, doubt uint64, aside bool) {
	if s := n.suspect.Load(); s != nil {
		switch {
		case o == pick.Broken:
			s.Broke(doubt)
		case o.Failed(), o == pick.Answered:
			s.Call(o.Failed())
		}
	}
	switch {
	case o.Failed():
		n.failed(o, aside)
	case aside && o != pick.Unknown:
		n.back(n.aside.Load(), nil)
	}
}

// Clock implements pick.Node.
func (n *node) Clock() int64 {
	if n.service.core.policy.average == nil && n.service.ejector.Load() == nil {
		return 0
	}
	return n.service.core.config.now()
}

// Took implements pick.Node.
func (n *node) Took(began int64, o pick.Outcome) {
	if !o.Failed() && o != pick.Answered {
		return
	}
	now := n.service.core.config.now()
	if n.service.core.policy.average != nil {
		n.service.took(n, now, now-began, o.Failed())
	}
	if e := n.service.ejector.Load(); e != nil {
		e.call(n, now, now-began, o.Failed())
	}
}

// failed sets the node aside if it got no connection, or for longer if it was
// aside already and this was its trial. Failures of calls that were picked
// before that, or besides the trial, are those of the same outage.
func (n *node) failed(o pick.Outcome, wasAside bool) {
	now := time.Now()
	before := n.aside.Load()
	var level int
	switch {
	case before == nil && o == pick.NoConnection:
		level = n.unseen.Load().next(now)
	case before != nil && before.trial && wasAside:
		level = before.level + 1
	default:
		return
	}
	after := asideAfter(level, now)
	if !n.aside.CompareAndSwap(before, after) {
		return // by another failure, or by an answer
	}
	n.service.setAside(after)
	if before == nil {
		n.service.core.tellAside(n, after)
	}
}

// claim lets one call through when the delay is over. It is true for that call,
// and for every call if the node has come back: by an answer, or since of an
// unseen trial no failure has shown. The call's own end is unseen unless an
// instance middleware tells.
func (n *node) claim(unseen bool) bool {
	before, now := n.aside.Load(), time.Now()
	switch {
	case n.closed():
		return false
	case before == nil:
		return true
	case !before.due(now):
		return false
	case before.trial && before.unseen:
		n.back(before, before)
		return true
	}
	after := before.tried(now, unseen)
	if !n.aside.CompareAndSwap(before, after) {
		return false
	}
	n.service.setAside(after)
	return true
}

// back ends the state before: the node has answered, or an unseen trial has not
// been seen to fail.
func (n *node) back(before, unseen *aside) {
	if before == nil || !n.aside.CompareAndSwap(before, nil) {
		return
	}
	n.unseen.Store(unseen)
	n.service.setBack(n)
	n.service.core.tellBack(n, before)
}

// hasten lets the next call through soon: a second after the last failure.
func (n *node) hasten(now time.Time) {
	before := n.aside.Load()
	if before == nil || before.trial {
		return
	}
	after := *before
	after.until = before.failed.Add(firstDelay)
	if before.until.After(after.until) && !before.due(now) && n.aside.CompareAndSwap(before, &after) {
		n.service.setAside(&after)
	}
}
