// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
)

// timing is what tests shorten.
type timing struct {
	check     time.Duration // how often a key is compared with what it should be
	tick      time.Duration // how often the clock is looked at
	sample    time.Duration // how often a weight source is called
	republish time.Duration // how often its weight may be written
}

var defaultTiming = timing{
	check:     10 * time.Second,
	tick:      time.Second / 2,
	sample:    time.Second,
	republish: 30 * time.Second,
}

// attendants are the goroutines of a registry that has something registered:
// they wake the loops. The registry's mutex guards cancel.
type attendants struct {
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// dismiss ends them without waiting.
func (a *attendants) dismiss() {
	if a.cancel != nil {
		a.cancel()
		a.cancel = nil
	}
}

// end waits until all that were dismissed have ended.
func (a *attendants) end() { a.running.Wait() }

// attendLocked starts the attendants unless they run.
func (r *Registry) attendLocked() {
	if r.attend.cancel != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.attend.cancel = cancel
	if conn := r.cli.ActiveConnection(); conn != nil { // nil in a client without one
		r.attend.running.Go(func() { r.watchConnection(ctx, conn) })
	}
	r.attend.running.Go(func() { watchClock(ctx, r.cfg.timing.tick, time.Now, r.lookAll) })
	if len(r.cfg.sources) > 0 {
		r.attend.running.Go(func() { r.sampler.run(ctx, r) })
	}
}

// lookAll wakes every loop.
func (r *Registry) lookAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, g := range r.regs {
		g.look()
	}
}

// watchConnection wakes the loops when the connection is ready again, spread a
// little since every provider sees it at that moment.
func (r *Registry) watchConnection(ctx context.Context, conn *grpc.ClientConn) {
	state := conn.GetState()
	for conn.WaitForStateChange(ctx, state) {
		state = conn.GetState()
		if state == connectivity.Ready {
			pause(ctx, rand.N(retryBase), nil)
			r.lookAll()
		}
	}
}

// watchClock calls jumped when the process has been stopped, the machine has
// slept or its clock was set.
func watchClock(ctx context.Context, tick time.Duration, clock func() time.Time, jumped func()) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	last := clock()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := clock()
		if gap(last, now) > tick+time.Second {
			jumped()
		}
		last = now
	}
}

// gap is the time between two moments by the clock that says more. The
// monotonic one stands still while a machine sleeps, the wall clock is set.
func gap(from, to time.Time) time.Duration {
	return max(to.Sub(from), to.Round(0).Sub(from.Round(0)).Abs())
}
