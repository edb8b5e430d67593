// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"fmt"
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
// state is kept per resolver and service. With a resolver of Fairway's it
// follows the live snapshot, so that a change is seen by the next call; with
// any other it picks from the list that Kitex hands over.
type Balancer struct {
	core     *core
	observer pick.Observer
	last     atomic.Pointer[servicePicker] // most balancers have one service
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
	if err := p.check(cfg); err != nil {
		return nil, err
	}
	_, counts := p.engine(cfg).(counter)
	return &Balancer{core: &core{
		policy: p,
		config: cfg,
		counts: counts,
		name:   fmt.Sprintf("fairway-%s-%d", p.name, balancers.Add(1)),
	}}, nil
}

// Observed returns a view of the balancer that shares its state and tells o
// about picks. It is what package middleware builds its pick spans on; the
// type of o is internal.
func (b *Balancer) Observed(o pick.Observer) *Balancer {
	return &Balancer{core: b.core, observer: o}
}

// Policy is the name that the balancer was made with.
func (b *Balancer) Policy() string { return b.core.policy.name }

// Name implements Kitex's Loadbalancer. It is unique per balancer, so that
// Kitex never takes one for another.
func (b *Balancer) Name() string { return b.core.name }

// String is what Kitex prints of the balancer.
func (b *Balancer) String() string { return b.core.name }

// GetPicker implements Kitex's Loadbalancer.
func (b *Balancer) GetPicker(res kdiscovery.Result) kloadbalance.Picker {
	p := b.last.Load()
	if p == nil || p.service.key != res.CacheKey || !p.fresh(res) {
		p = b.picker(res)
	}
	if b.core.counts {
		return newCountingPicker(p)
	}
	return p
}

// picker finds or makes the picker of a result's service.
func (b *Balancer) picker(res kdiscovery.Result) *servicePicker {
	s := b.core.service(res)
	s.show(res)
	p := s.picker(b.observer)
	if last := b.last.Load(); last == nil || last.service.gone.Load() {
		b.last.Store(p)
	}
	return p
}

// Rebalance implements Kitex's Rebalancer. A live service needs no telling.
func (b *Balancer) Rebalance(change kdiscovery.Change) {
	if s := b.core.find(change.Result.CacheKey); s != nil && s.view == nil && change.Result.Cacheable {
		s.replace(change.Result.Instances)
	}
}

// Delete implements Kitex's Rebalancer: a client has not asked for the service
// for a while. Others may, and calls may be under way, so that the state stays
// for a minute longer.
func (b *Balancer) Delete(change kdiscovery.Change) {
	if s := b.core.find(change.Result.CacheKey); s != nil {
		s.rest()
	}
}
