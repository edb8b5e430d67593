// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"sync"
	"time"
)

const (
	// batch is how often a caller wakes to make the calls that are due: many
	// timers for single calls would cost more than the calls.
	batch = 10 * time.Millisecond
	// backlog is how much of a standstill a caller makes up for. What was due
	// before is dropped, so that there is no storm after it.
	backlog = 100 * time.Millisecond
)

// Generator makes calls at a steady rate with a fixed number of callers, each
// of which waits for its call to end before it makes the next: the load is
// bounded by QPS and by Callers.
type Generator struct {
	// QPS is the calls per second of all callers together; at least 1.
	QPS int
	// Callers is the highest number of calls at a time; at least 1.
	Callers int
	// Call makes one call. The context does not end with Run's: a call that has
	// begun is finished.
	Call func(ctx context.Context)
}

// Run makes calls until ctx ends and returns when the last has ended.
func (g *Generator) Run(ctx context.Context) {
	var callers sync.WaitGroup
	for i := range g.Callers {
		callers.Go(func() { g.caller(ctx, i) })
	}
	callers.Wait()
}

// caller i makes its share of the calls. The callers' schedules are spread
// evenly over the time between two calls of one.
func (g *Generator) caller(ctx context.Context, i int) {
	interval := time.Duration(float64(time.Second) * float64(g.Callers) / float64(g.QPS))
	next := time.Now().Add(interval * time.Duration(i) / time.Duration(g.Callers))
	wake := time.NewTimer(max(time.Until(next), 0))
	defer wake.Stop()
	call := context.WithoutCancel(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-wake.C:
		}
		for now := time.Now(); ctx.Err() == nil && !next.After(now); now = time.Now() {
			if oldest := now.Add(-backlog); next.Before(oldest) {
				next = oldest
			}
			g.Call(call)
			next = next.Add(interval)
		}
		wake.Reset(max(time.Until(next), batch))
	}
}
