// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"fmt"
	"sync"
	"sync/atomic"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	kloadbalance "github.com/cloudwego/kitex/pkg/loadbalance"

	"github.com/fairway-rpc/fairway/internal/pick"
)

var (
	_ kloadbalance.Loadbalancer = (*Balancer)(nil)
	_ kloadbalance.Rebalancer   = (*Balancer)(nil)
)

// Balancer picks instances by one policy. It implements Kitex's Loadbalancer
// and Rebalancer and may serve several clients and services at a time: its
// state is kept per resolver's name and service. With a resolver of Fairway's it
// follows the live snapshot, so that a change is seen by the next call; with
// any other it picks from the list that Kitex hands over.
type Balancer struct {
	methods  *methods // if it leaves picks to others; then the rest is unused
	core     *core
	counts   bool // the core's, nearer
	name     string
	observed bool
	observer pick.Observer
	last     atomic.Pointer[servicePicker] // most balancers have one service
	pickers  sync.Map                      // key to *servicePicker
}

var balancers atomic.Int64

// New makes a balancer of a policy that is among [Policies]. Errors wrap
// [ErrInvalidConfig] and, for an unknown name, [ErrUnknownPolicy].
func New(policy string, opts ...Option) (*Balancer, error) {
	p, err := findPolicy(policy)
	if err != nil {
		return nil, err
	}
	cfg, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	if err := p.prepare(cfg); err != nil {
		return nil, err
	}
	return newBalancer(newCore(p, cfg)), nil
}

// Observed returns a view of the balancer that shares its state, notes picks in
// the attempt that a suite has put into the context, and tells o about them if
// that is not nil. It is what package middleware builds on; the type of o is
// internal.
func (b *Balancer) Observed(o pick.Observer) *Balancer {
	if b.methods != nil {
		return b.methods.observed(o)
	}
	view := newBalancer(b.core)
	view.observed, view.observer = true, o
	return view
}

func newBalancer(c *core) *Balancer {
	return &Balancer{core: c, counts: c.counts, name: fmt.Sprintf("fairway-%s-%d", c.policy.name, balancers.Add(1))}
}

// Policy is the name that the balancer was made with, or [PerMethodPolicy].
func (b *Balancer) Policy() string {
	if b.methods != nil {
		return PerMethodPolicy
	}
	return b.core.policy.name
}

// Name implements Kitex's Loadbalancer. It is unique per Balancer, so that Kitex
// never takes one for another.
func (b *Balancer) Name() string { return b.name }

// String is what Kitex prints of the balancer.
func (b *Balancer) String() string { return b.name }

// GetPicker implements Kitex's Loadbalancer.
func (b *Balancer) GetPicker(res kdiscovery.Result) kloadbalance.Picker {
	p := b.last.Load()
	if p == nil || !p.fits(res.CacheKey, res.Cacheable) {
		if b.methods != nil {
			return b.methods.picker(res)
		}
		p = b.picker(res)
	}
	if b.counts {
		return newCountingPicker(p)
	}
	return p
}

// picker finds or makes the picker of a result's service.
func (b *Balancer) picker(res kdiscovery.Result) *servicePicker {
	s := b.core.service(res)
	s.wake(res)
	if p, ok := b.pickers.Load(s.key); ok && p.(*servicePicker).service == s {
		return p.(*servicePicker)
	}
	p := &servicePicker{service: s, key: s.key, live: s.view != nil, observed: b.observed, observer: b.observer}
	b.forgetGone()
	b.pickers.Store(s.key, p)
	if last := b.last.Load(); last == nil || last.service.life.is(gone) {
		b.last.Store(p)
	}
	return p
}

// forgetGone drops the pickers of services that have ended.
func (b *Balancer) forgetGone() {
	b.pickers.Range(func(key, p any) bool {
		if p.(*servicePicker).service.life.is(gone) {
			b.pickers.CompareAndDelete(key, p)
		}
		return true
	})
}

// Rebalance implements Kitex's Rebalancer. A live service needs no telling.
func (b *Balancer) Rebalance(change kdiscovery.Change) {
	if b.methods != nil {
		for _, inner := range b.methods.all() {
			inner.Rebalance(change)
		}
		return
	}
	if !change.Result.Cacheable {
		return
	}
	if s := b.core.await(change.Result.CacheKey); s != nil && s.view == nil {
		s.replace(change.Result.Instances)
	}
}

// Delete implements Kitex's Rebalancer: a client has not asked for the service
// for a while. Others may, and calls may be under way, so that the state stays
// for a minute longer.
func (b *Balancer) Delete(change kdiscovery.Change) {
	if b.methods != nil {
		for _, inner := range b.methods.all() {
			inner.Delete(change)
		}
		return
	}
	if s := b.core.find(change.Result.CacheKey); s != nil {
		s.rest()
	}
}
