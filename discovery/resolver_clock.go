// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"math/rand/v2"
	"time"

	"google.golang.org/grpc/connectivity"
)

var processStart = time.Now()

// sinceStart is a moment in nanoseconds of the monotonic clock, which nobody
// sets.
func sinceStart(t time.Time) int64 { return int64(t.Sub(processStart)) }

// tick watches over the feeds: it notices silence and ends idle feeds.
func (r *Resolver) tick() {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-r.ctx.Done():
			return
		case now := <-ticker.C:
			for _, f := range r.all() {
				f.tick(now)
			}
			for _, f := range r.takeIdle(now) {
				r.end(f)
			}
		}
	}
}

func (r *Resolver) all() []*feed {
	r.mu.Lock()
	defer r.mu.Unlock()
	feeds := make([]*feed, 0, len(r.feeds))
	for _, f := range r.feeds {
		feeds = append(feeds, f)
	}
	return feeds
}

// takeIdle removes the feeds that nobody has used for long.
func (r *Resolver) takeIdle(now time.Time) []*feed {
	r.mu.Lock()
	defer r.mu.Unlock()
	var idle []*feed
	for service, f := range r.feeds {
		if f.idle(now) {
			delete(r.feeds, service)
			idle = append(idle, f)
		}
	}
	return idle
}

func (f *feed) idle(now time.Time) bool {
	return sinceStart(now)-f.lastUsed.Load() > int64(idleAfter) && f.subs.empty()
}

// askProgress has etcd say on the watch stream up to where it has told
// everything, which proves the quiet watches alive. One question serves all
// feeds of the resolver.
func (r *Resolver) askProgress() {
	ticker := time.NewTicker(brokenAfter)
	defer ticker.Stop()
	for {
		select {
		case <-r.ctx.Done():
			return
		case <-r.back:
			r.requestProgress()
		case <-ticker.C:
			r.requestProgress()
		}
	}
}

func (r *Resolver) requestProgress() {
	watching := false
	for _, f := range r.all() {
		watching = watching || f.watching()
	}
	if !watching {
		return
	}
	ctx, cancel := context.WithTimeout(r.ctx, requestTimeout)
	defer cancel()
	// A failure needs no answer: silence is what the feeds notice.
	_ = r.cli.RequestProgress(ctx)
}

func (f *feed) watching() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.broken.IsZero()
}

// watchConnection notes since when etcd cannot be reached, and has the feeds
// compare themselves with it when it can be again: what answers then may be
// another store. The one state of a client with several endpoints is that of
// its best connection.
func (r *Resolver) watchConnection() {
	conn := r.cli.ActiveConnection()
	if conn == nil {
		return
	}
	for state := conn.GetState(); conn.WaitForStateChange(r.ctx, state); {
		state = conn.GetState()
		if state != connectivity.Ready {
			r.lost(time.Now())
			continue
		}
		r.down.Store(0)
		for _, f := range r.all() {
			f.reconnected()
		}
		wake(r.back)
	}
}

// lost notes that there is no connection, unless that is known.
func (r *Resolver) lost(now time.Time) { r.down.CompareAndSwap(0, sinceStart(now)) }

// unreachable reports whether there has been no connection for long.
func (r *Resolver) unreachable(now time.Time) bool {
	down := r.down.Load()
	return down != 0 && sinceStart(now)-down >= int64(brokenAfter)
}

const (
	// reconnectSpread is the time over which the consumers that etcd has come
	// back to ask it, and feedSpread what each feed of a resolver adds.
	reconnectSpread = time.Second
	feedSpread      = 2 * time.Millisecond
)

// spread draws how long a feed waits before it asks an etcd that has just come
// back, to everybody at once.
func (r *Resolver) spread() time.Duration {
	if r.cfg.noJitter {
		return 0
	}
	r.mu.Lock()
	n := len(r.feeds)
	r.mu.Unlock()
	return rand.N(reconnectSpread + time.Duration(n)*feedSpread)
}
