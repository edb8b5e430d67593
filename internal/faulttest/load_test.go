// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package faulttest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice"
)

// load is callers that do not stop calling.
type load struct {
	t      testing.TB
	cli    echoservice.Client
	cancel context.CancelFunc
	all    sync.WaitGroup

	calls, failed atomic.Int64

	mu      sync.Mutex
	errors  map[string]int
	answers map[string]int
}

const (
	callers = 4
	// between is the wait between two calls of one caller: many tests share the
	// machine.
	between = 5 * time.Millisecond
)

func startLoad(t testing.TB, cli echoservice.Client) *load {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	l := &load{t: t, cli: cli, cancel: cancel, errors: make(map[string]int), answers: make(map[string]int)}
	for range callers {
		l.all.Go(func() { l.run(ctx) })
	}
	t.Cleanup(l.stop)
	return l
}

func (l *load) run(ctx context.Context) {
	tick := time.NewTicker(between)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		response, err := l.cli.Echo(context.WithoutCancel(ctx), &echo.Request{Message: "hello", DelayMs: 1})
		l.calls.Add(1)
		l.mu.Lock()
		if err != nil {
			l.failed.Add(1)
			l.errors[err.Error()]++
		} else {
			l.answers[response.Instance]++
		}
		l.mu.Unlock()
	}
}

// stop ends the callers and waits for them.
func (l *load) stop() {
	l.cancel()
	l.all.Wait()
}

// goesOn waits for n more calls.
func (l *load) goesOn(n int64) {
	l.t.Helper()
	before := l.calls.Load()
	waitFor(l.t, "calls go on", func() bool { return l.calls.Load() >= before+n })
}

// lasts lets the calls go on for a while.
func (l *load) lasts(d time.Duration) {
	l.t.Helper()
	began := time.Now()
	waitWithin(l.t, d+time.Minute, "calls go on", func() bool { return time.Since(began) >= d })
	l.goesOn(1)
}

// answeredBy is how many calls an instance has answered.
func (l *load) answeredBy(address string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.answers[address]
}

// noneFailed fails the test if a call has.
func (l *load) noneFailed() {
	l.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed.Load() > 0 {
		l.t.Errorf("%d of %d calls failed: %v", l.failed.Load(), l.calls.Load(), l.errors)
	}
}
