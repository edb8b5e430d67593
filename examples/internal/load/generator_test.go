// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairway-rpc/fairway/examples/internal/load"
)

// run makes calls that take as long as given, for a while.
func run(t *testing.T, qps, callers int, takes, lasts time.Duration) (calls, atMost int64) {
	t.Helper()
	var n, busy, most atomic.Int64
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), lasts)
		defer cancel()
		g := load.Generator{QPS: qps, Callers: callers, Call: func(ctx context.Context) {
			most.Store(max(most.Load(), busy.Add(1)))
			time.Sleep(takes)
			if ctx.Err() != nil {
				t.Error("a call that had begun was cancelled")
			}
			busy.Add(-1)
			n.Add(1)
		}}
		g.Run(ctx)
		if busy.Load() != 0 {
			t.Error("Run returned before the last call had ended")
		}
	})
	return n.Load(), most.Load()
}

func TestRateIsKept(t *testing.T) {
	for _, qps := range []int{1, 7, 200, 4000} {
		calls, _ := run(t, qps, 32, time.Millisecond, 10*time.Second)
		want := int64(qps * 10)
		if calls < want-want/50-1 || calls > want+want/50+1 {
			t.Errorf("%d calls in ten seconds at %d a second, want about %d", calls, qps, want)
		}
	}
}

func TestSlowCallsAreBounded(t *testing.T) {
	calls, atMost := run(t, 1000, 4, time.Second, 10*time.Second)
	if atMost != 4 || calls < 36 || calls > 44 {
		t.Errorf("%d calls, %d at a time; want about 40, 4 at a time", calls, atMost)
	}
}

func TestStandstillIsNotMadeUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 11*time.Second)
		defer cancel()
		calls := 0
		g := load.Generator{QPS: 100, Callers: 1, Call: func(context.Context) {
			if calls++; calls == 1 {
				time.Sleep(10 * time.Second)
			}
		}}
		g.Run(ctx)
		if calls < 90 || calls > 120 {
			t.Errorf("%d calls in one second after a standstill of ten, want about 110", calls)
		}
	})
}
