// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package logging

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/kitex/pkg/klog"
)

func TestLinesGoToKlogWithTheirLevelAndAttributes(t *testing.T) {
	var out bytes.Buffer
	klog.SetOutput(&out)
	defer klog.SetOutput(os.Stderr)
	log := Default().With("service", "echo").WithGroup("etcd")
	log.Warn("stale", "age", 3*time.Second)
	got := out.String()
	for _, want := range []string{"[Warn]", "fairway: msg=stale", "service=echo", "etcd.age=3s"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	if strings.Contains(got, "level=") || strings.Contains(got, "time=") {
		t.Errorf("klog writes level and time itself: %q", got)
	}
}

func TestLimiterHoldsBackAndCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Limiter
		if _, ok := l.Allow("a"); !ok {
			t.Error("the first line is held back")
		}
		for range 3 {
			if _, ok := l.Allow("a"); ok {
				t.Error("a repeated line goes through")
			}
		}
		if _, ok := l.Allow("b"); !ok {
			t.Error("another kind is held back")
		}
		time.Sleep(10 * time.Second) // in the bubble's time
		if held, ok := l.Allow("a"); !ok || held != 3 {
			t.Errorf("after the interval: %v, %d held back; want 3", ok, held)
		}
	})
}

func TestLimiterIsBounded(t *testing.T) {
	var l Limiter
	for i := range 10 * maxKinds {
		l.Allow(string(rune(i)))
	}
	if len(l.seen) > maxKinds {
		t.Errorf("%d kinds are kept", len(l.seen))
	}
}
