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
	return p.key == key && (p.live || cacheable) && p.service.life.inUse()
}

// Next implements Kitex's Picker.
func (p *servicePicker) Next(ctx context.Context, request any) kdiscovery.Instance {
	info := rpcinfo.GetRPCInfo(ctx)
	s := p.service
	t := s.table.Load()
	var c *candidate
	switch {
	case p.observed:
		c = p.next(ctx, request, info, pick.Of(ctx, info), t)
	case t.simple: // choose, but that one call fewer makes it a tenth faster
		var skip *skips
		if info != nil {
			skip = t.skipsOf(info, nil)
		}
		if c = t.chooser.choose(0, skip); c != nil && !s.someAside.Load() {
			return c.instance
		}
		c, _, _ = s.chooseAgain(0, c, skip, nil, &t.group)
	default:
		c, _, _ = s.choose(ctx, request, info, nil, t)
	}
	if c == nil {
		return nil
	}
	return c.instance
}

// attempt is the one that the suite has put into the context.
func (p *servicePicker) attempt(ctx context.Context, info rpcinfo.RPCInfo) *pick.Attempt {
	if !p.observed {
		return nil
	}
	return pick.Of(ctx, info)
}

func (p *servicePicker) next(ctx context.Context, request any, info rpcinfo.RPCInfo, attempt *pick.Attempt, t *table) *candidate {
	s := p.service
	if p.observer != nil && p.observer.Wants(ctx) {
		return p.nextObserved(ctx, request, info, attempt, t)
	}
	var began time.Time
	if attempt != nil && attempt.Timed {
		began = time.Now()
	}
	c, _, err := s.choose(ctx, request, info, attempt, t)
	if !began.IsZero() {
		attempt.PickTime += time.Since(began)
	}
	s.note(info, attempt, t, c, err)
	return c
}

// nextObserved picks and tells the observer.
func (p *servicePicker) nextObserved(ctx context.Context, request any, info rpcinfo.RPCInfo, attempt *pick.Attempt, t *table) *candidate {
	start := time.Now()
	c, skip, err := p.service.choose(ctx, request, info, attempt, t)
	if attempt != nil && attempt.Timed {
		attempt.PickTime += time.Since(start)
	}
	p.service.note(rpcinfo.GetRPCInfo(ctx), attempt, t, c, err)
	seen := &pick.Pick{
		Policy:     p.service.core.policy.name,
		Start:      start,
		Candidates: t.tally.serving,
		Aside:      t.aside,
		Err:        err,
		Retry:      pick.RetryOf(ctx),
	}
	if skip != nil {
		seen.Excluded = len(skip.nodes)
	}
	if attempt != nil {
		seen.Subset = attempt.Subset
	}
	if c != nil {
		seen.Instance, seen.Weight, seen.Suspect = c.instance, int(c.weight), c.node.suspect.Load() != nil
		p.describeLoad(seen, c, attempt)
	}
	if t.set != nil {
		seen.Live = true
		seen.Revision, seen.Stale, seen.Source = t.set.Revision, t.set.Stale, t.set.Source
		seen.Suspects = t.set.Suspects
		seen.Age = p.service.view.Age(start)
	}
	p.observer.Picked(ctx, seen)
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

	node  *node
	noted *pick.Attempt // the attempt that knows of it
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
	info := rpcinfo.GetRPCInfo(ctx)
	p.noted = p.attempt(ctx, info)
	c := p.next(ctx, request, info, p.noted, p.service.table.Load())
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

// release ends the count unless the instance middleware does, and tells the
// attempt, so that nobody ends it again.
func (p *countingPicker) release() {
	if p.node != nil && (p.noted == nil || !p.noted.Taken) {
		p.node.End()
		if p.noted != nil {
			p.noted.Counted = false
		}
	}
	p.node = nil
}
