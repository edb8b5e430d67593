// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"context"
	"sync"
	"time"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	kloadbalance "github.com/cloudwego/kitex/pkg/loadbalance"

	"github.com/fairway-rpc/fairway/internal/fault"
	"github.com/fairway-rpc/fairway/internal/pick"
	"github.com/fairway-rpc/fairway/loadbalance"
)

// TracePicks wraps any Kitex balancer so that its picks get a span. Around a
// [*loadbalance.Balancer] the span says all that is known there; around another
// it says whom it picked from how many. The result implements Kitex's
// Rebalancer too and has a name of its own. It panics with an error that wraps
// [ErrInvalidConfig] if the balancer is nil or an option bad, as Kitex's
// options do.
func TracePicks(lb kloadbalance.Loadbalancer, opts ...TraceOption) kloadbalance.Loadbalancer {
	if ours, ok := lb.(*loadbalance.Balancer); lb == nil || ok && ours == nil {
		panic(fault.Invalid("TracePicks", "the balancer is nil"))
	}
	c := &traceConfig{}
	for _, o := range opts {
		if o == nil {
			continue
		}
		if err := o.applyTrace(c); err != nil {
			panic(err)
		}
	}
	spans := newPickSpans(c)
	if ours, ok := lb.(*loadbalance.Balancer); ok {
		return ours.Observed(observerOf(spans, nil))
	}
	return &tracedBalancer{inner: lb, spans: spans, name: "fairway-traced-" + lb.Name()}
}

var (
	_ kloadbalance.Loadbalancer = (*tracedBalancer)(nil)
	_ kloadbalance.Rebalancer   = (*tracedBalancer)(nil)
)

// tracedBalancer puts spans around a foreign balancer's picks.
type tracedBalancer struct {
	inner kloadbalance.Loadbalancer
	spans *pickSpans
	name  string
}

// Name implements Kitex's Loadbalancer.
func (t *tracedBalancer) Name() string { return t.name }

// String is what Kitex prints of the balancer.
func (t *tracedBalancer) String() string { return t.name }

// Rebalance implements Kitex's Rebalancer. Kitex emits change events only for
// balancers that have it, so ours has it even if the inner one does not.
func (t *tracedBalancer) Rebalance(change kdiscovery.Change) {
	if r, ok := t.inner.(kloadbalance.Rebalancer); ok {
		r.Rebalance(change)
	}
}

// Delete implements Kitex's Rebalancer.
func (t *tracedBalancer) Delete(change kdiscovery.Change) {
	if r, ok := t.inner.(kloadbalance.Rebalancer); ok {
		r.Delete(change)
	}
}

// GetPicker implements Kitex's Loadbalancer.
func (t *tracedBalancer) GetPicker(res kdiscovery.Result) kloadbalance.Picker {
	p := tracedPickers.Get().(*tracedPicker)
	p.balancer, p.inner, p.candidates = t, t.inner.GetPicker(res), len(res.Instances)
	return p
}

var tracedPickers = sync.Pool{New: func() any { return new(tracedPicker) }}

// tracedPicker belongs to one attempt; Kitex recycles it.
type tracedPicker struct {
	balancer   *tracedBalancer
	inner      kloadbalance.Picker
	candidates int
}

// Next implements Kitex's Picker.
func (p *tracedPicker) Next(ctx context.Context, request any) kdiscovery.Instance {
	if spans := p.balancer.spans; spans == nil || !spans.Wants(ctx) {
		return p.inner.Next(ctx, request)
	}
	start := time.Now()
	instance := p.inner.Next(ctx, request)
	seen := &pick.Pick{
		Policy:     p.balancer.inner.Name(),
		Start:      start,
		Candidates: p.candidates,
		Instance:   instance,
		Retry:      pick.RetryOf(ctx),
	}
	if instance != nil {
		seen.Weight = instance.Weight()
	}
	p.balancer.spans.Picked(ctx, seen)
	return instance
}

// Recycle is found by Kitex and called after the attempt.
func (p *tracedPicker) Recycle() {
	if r, ok := p.inner.(interface{ Recycle() }); ok {
		r.Recycle()
	}
	*p = tracedPicker{}
	tracedPickers.Put(p)
}
