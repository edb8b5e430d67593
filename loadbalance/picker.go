// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"context"
	"sync"
	"time"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	kloadbalance "github.com/cloudwego/kitex/pkg/loadbalance"
	"github.com/cloudwego/kitex/pkg/rpcinfo"

	"github.com/fairway-rpc/fairway/internal/pick"
)

var (
	_ kloadbalance.Picker = (*servicePicker)(nil)
	_ kloadbalance.Picker = (*countingPicker)(nil)
)

// servicePicker picks for one service. It is shared by all calls, so that
// handing it out costs nothing.
type servicePicker struct {
	service  *service
	key      string // the service's, nearer
	live     bool   // the service follows a view, nearer
	observed bool   // by package middleware: attempts may be in the context
	observer pick.Observer
}

// fits reports whether the picker is right for the result as it is.
func (p *servicePicker) fits(key string, cacheable bool) bool {
	return p.key == key && (p.live || cacheable) && !p.service.gone.Load() && !p.service.idle.Load()
}

// Next implements Kitex's Picker.
func (p *servicePicker) Next(ctx context.Context, request any) kdiscovery.Instance {
	on := p.rpc(ctx, request)
	if c := p.next(&on); c != nil {
		return c.instance
	}
	return nil
}

func (p *servicePicker) rpc(ctx context.Context, request any) rpc {
	on := rpc{ctx: ctx, request: request, info: rpcinfo.GetRPCInfo(ctx)}
	if p.observed {
		on.attempt = pick.Of(ctx, on.info)
	}
	return on
}

func (p *servicePicker) next(on *rpc) *candidate {
	t := p.service.table.Load()
	if p.observer != nil && p.observer.Wants(on.ctx) {
		return p.nextObserved(on, t)
	}
	c, _, _ := p.service.pick(on, t)
	return c
}

// nextObserved picks and tells the observer.
func (p *servicePicker) nextObserved(on *rpc, t *table) *candidate {
	start := time.Now()
	c, skip, err := p.service.pick(on, t)
	seen := &pick.Pick{
		Policy:     p.service.core.policy.name,
		Start:      start,
		Candidates: t.servingCount,
		Aside:      t.aside,
		Err:        err,
		Retry:      pick.RetryOf(on.ctx),
	}
	if skip != nil {
		seen.Excluded = len(skip.nodes)
	}
	if c != nil {
		seen.Instance, seen.Weight, seen.Suspect = c.instance, int(c.weight), c.node.suspect.Load() != nil
		p.describeLoad(seen, c, on.attempt)
	}
	if t.set != nil {
		seen.Live = true
		seen.Revision, seen.Stale, seen.Source = t.set.Revision, t.set.Stale, t.set.Source
		seen.Suspects = t.set.Suspects
		seen.Age = p.service.view.Age(start)
	}
	p.observer.Picked(on.ctx, seen)
	return c
}

// describeLoad tells the calls in flight before this one, where they are
// counted: by the policy, or by the suite that made the attempt.
func (p *servicePicker) describeLoad(seen *pick.Pick, c *candidate, attempt *pick.Attempt) {
	byPolicy := p.service.counter != nil
	seen.Counts = byPolicy || attempt != nil
	seen.InFlight = c.node.active()
	if byPolicy {
		seen.InFlight-- // this call, counted by the pick
	}
}

// countingPicker is the picker of one attempt under a policy that counts. Kitex
// recycles it when the attempt has returned.
type countingPicker struct {
	*servicePicker

	node    *node
	attempt *pick.Attempt
}

var countingPickers = sync.Pool{New: func() any { return new(countingPicker) }}

func newCountingPicker(p *servicePicker) *countingPicker {
	c := countingPickers.Get().(*countingPicker)
	c.servicePicker = p
	return c
}

// Next implements Kitex's Picker. The candidate is counted until Recycle, or
// for longer if the suite's instance middleware takes it over.
func (p *countingPicker) Next(ctx context.Context, request any) kdiscovery.Instance {
	p.release()
	on := p.rpc(ctx, request)
	p.attempt = on.attempt
	c := p.next(&on)
	if c == nil {
		return nil
	}
	p.node = c.node
	return c.instance
}

// Recycle is found by Kitex and called after the attempt, though not if it
// panicked.
func (p *countingPicker) Recycle() {
	p.release()
	*p = countingPicker{}
	countingPickers.Put(p)
}

// release ends the count unless the instance middleware does.
func (p *countingPicker) release() {
	if p.node != nil && (p.attempt == nil || !p.attempt.Taken) {
		p.node.End()
	}
	p.node = nil
}
