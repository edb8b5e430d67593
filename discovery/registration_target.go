// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"errors"
)

// aim replaces what etcd is to hold, keeping who and since when we are, and
// wakes the loop. The version that it returns is for await.
func (g *registration) aim(r *record, hidden bool) (version uint64) {
	g.mu.Lock()
	g.target = g.aimed(r, hidden)
	version = g.target.version
	g.mu.Unlock()
	g.look()
	return version
}

// aimed makes the next target. The caller holds the mutex.
func (g *registration) aimed(r *record, hidden bool) target {
	own := *r
	own.Network, own.Address, own.Instance, own.StartedAt = g.base.Network, g.base.Address, g.base.Instance, g.base.StartedAt
	return target{
		key:     g.cfg.keys.instance(g.service, own.Address),
		record:  &own,
		hidden:  hidden,
		version: g.target.version + 1,
	}
}

// rebase gives a registration that goes on what it was registered with anew.
func (g *registration) rebase(base *record) {
	g.mu.Lock()
	defer g.mu.Unlock()
	base.Network, base.Address, base.Instance, base.StartedAt = g.base.Network, g.base.Address, g.base.Instance, g.base.StartedAt
	g.base = base
}

func (g *registration) registeredWith() *record {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.base
}

func (g *registration) wanted() target {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.target
}

// agree makes etcd hold the target, and tells those who wait for it.
func (g *registration) agree(ctx context.Context, l *lease) error {
	t := g.wanted()
	err := g.enact(ctx, l, t)
	if err == nil {
		g.reached(t)
	}
	if err == nil || errors.Is(err, errConflict) {
		_ = g.forget(ctx, l.id) // what fails is tried again at the next look
	}
	return explained(err)
}

func (g *registration) reached(t target) {
	g.enter(t.state(), nil)
	g.mu.Lock()
	if t.version > g.agreed {
		g.agreed = t.version
		close(g.news)
		g.news = make(chan struct{})
	}
	g.mu.Unlock()
	select {
	case <-g.registered:
	default:
		close(g.registered)
	}
}

func (g *registration) enact(ctx context.Context, l *lease, t target) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if t.hidden {
		return g.remove(ctx, t)
	}
	return g.claim(ctx, l.id, t)
}

// await waits until etcd has agreed with a version of the target or the
// registration has ended.
func (g *registration) await(ctx context.Context, version uint64) error {
	for {
		g.mu.Lock()
		agreed, news := g.agreed >= version, g.news
		g.mu.Unlock()
		if agreed {
			return nil
		}
		select {
		case <-news:
		case <-g.done:
			return nil
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), g.failure())
		}
	}
}

// failure is the last error, nil before the first and after its end.
func (g *registration) failure() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state.settled() {
		return nil
	}
	return g.lastErr
}
