// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairway-rpc/fairway/internal/etcdtest"
)

func TestGapIsThatOfTheClockThatSaysMore(t *testing.T) {
	now := time.Now()
	for name, to := range map[string]time.Time{
		"both":                      now.Add(time.Minute),
		"wall, as after a sleep":    now.Add(time.Minute).Round(0),
		"wall, set back":            now.Add(-time.Minute).Round(0),
		"none of it lost to a zone": now.Add(time.Minute).UTC(),
	} {
		if got := gap(now, to); got != time.Minute {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestClockThatRunsWakesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		watchClock(ctx, time.Second/2, time.Now, func() { t.Error("woken") })
	})
}

func TestClockThatJumpsWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began, woken := time.Now(), 0
		stalled := func() time.Time { // for ten seconds, once
			if now := time.Now(); now.Sub(began) < 30*time.Second {
				return now
			}
			return time.Now().Add(10 * time.Second)
		}
		watchClock(ctx, time.Second/2, stalled, func() { woken++ })
		if woken != 1 {
			t.Errorf("woken %d times by one jump", woken)
		}
	})
}

func TestConnectionThatIsReadyAgainWakes(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	cli := s.Client(t)
	_ = keyCount(t, cli, "") // connects
	wake := make(chan struct{}, 1)
	r := &Registry{cli: cli, regs: map[registrationID]*registration{{}: {wake: wake}}}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.watchConnection(ctx, cli.ActiveConnection())
	}()
	defer func() {
		cancel()
		<-done
	}()
	s.Kill()
	s.Restart()
	waitFor(t, "the loop is woken", func() bool { return len(wake) == 1 })
}
