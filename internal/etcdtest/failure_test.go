// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// recorder is a test that has failed or is about to.
type recorder struct {
	testing.TB
	failed bool
	text   strings.Builder
}

func (r *recorder) Failed() bool { return r.failed }

func (r *recorder) Log(args ...any) { _, _ = fmt.Fprintln(&r.text, args...) }

func (r *recorder) Fatalf(format string, args ...any) {
	r.failed = true
	_, _ = fmt.Fprintf(&r.text, format, args...)
	runtime.Goexit()
}

func TestFailedTestShowsLog(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	t.Run("failing", func(t *testing.T) {
		r.TB = t
		Start(r)
		r.failed = true
	})
	if !strings.Contains(r.text.String(), "ready to serve client requests") {
		t.Errorf("a failed test logged %q, want etcd's output", r.text.String())
	}
}

func TestHopelessStartSaysWhy(t *testing.T) {
	t.Parallel()
	r := &recorder{TB: t}
	inGoroutine(func() { Start(r, WithFlags("--no-such-flag")) })
	if text := r.text.String(); !strings.Contains(text, "ended by itself") || !strings.Contains(text, "no-such-flag") {
		t.Errorf("failure = %q, want the reason from etcd's output", text)
	}
}

func TestFreezeOfNothingFails(t *testing.T) {
	t.Parallel()
	r := &recorder{TB: t}
	srv := New(r)
	for _, f := range []func(){srv.Freeze, srv.Thaw} {
		inGoroutine(f)
		if !r.failed {
			t.Error("no failure without a process")
		}
		r.failed = false
	}
}
