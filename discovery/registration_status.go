// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"log/slog"
	"time"
)

// progress is how far a registration has come. It is guarded by the
// registration's mutex.
type progress struct {
	state   RegistrationState
	since   time.Time
	lease   *lease // the present one, nil before the first
	lastErr error
	errAt   time.Time
}

func (g *registration) status() RegistrationStatus {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.statusLocked()
}

func (g *registration) statusLocked() RegistrationStatus {
	s := RegistrationStatus{
		Service: g.service,
		Network: g.target.record.Network,
		Address: g.target.record.Address,
		Key:     g.target.key,
		State:   g.state,
		Since:   g.since,
		Weight:  int(g.target.record.weight()),
	}
	if g.lease != nil {
		s.Lease, s.TTLLeft = g.lease.String(), g.lease.left()
	}
	if g.lastErr != nil {
		s.LastError, s.LastErrorAt = g.lastErr.Error(), g.errAt
	}
	return s
}

// enter notes the state that the registration is in now, and why if not as
// wanted. Each change is logged once and told to the status callback; a new
// reason alone is logged now and then. Once a registration is leaving, its
// loop has no say any more.
func (g *registration) enter(state RegistrationState, why error) {
	g.mu.Lock()
	if g.over(state) {
		g.mu.Unlock()
		return
	}
	if why != nil {
		g.lastErr, g.errAt = why, time.Now()
	}
	before := g.state
	if before != state {
		g.state, g.since = state, time.Now()
	}
	s := g.statusLocked()
	if before != state {
		g.notify.push(g, s) // under the lock, which keeps the order
	}
	g.mu.Unlock()
	if before != state {
		g.logChange(before, s, why)
	} else if why != nil {
		g.logAgain(s)
	}
}

// over reports whether it is too late for the state.
func (g *registration) over(state RegistrationState) bool {
	return g.state == Deregistered || g.state == Leaving && state != Deregistered
}

func (g *registration) logChange(before RegistrationState, s RegistrationStatus, why error) {
	level, args := slog.LevelInfo, []any{"address", s.Address, "key", s.Key, "was", before}
	if s.Lease != "" {
		args = append(args, "lease", s.Lease, "ttl", g.cfg.ttl)
	}
	if why != nil {
		level, args = slog.LevelWarn, append(args, "error", why)
		_, _ = g.noise.Allow(why.Error()) // so that logAgain does not repeat it at once
	}
	g.log.Log(context.Background(), level, "provider is "+string(s.State), args...)
}

func (g *registration) logAgain(s RegistrationStatus) {
	if held, ok := g.noise.Allow(s.LastError); ok {
		g.log.Warn("provider is still "+string(s.State), "address", s.Address, "since", s.Since, "error", s.LastError, "repeated", held)
	}
}
