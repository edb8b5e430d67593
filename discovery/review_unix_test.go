// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !windows

package discovery

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/fairway-rpc/fairway/internal/etcdtest"
)

// TestSlowDiskHoldsUpNobody: the file is a pipe that nobody writes into.
func TestSlowDiskHoldsUpNobody(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	cli := s.Client(t)
	put(t, cli, "fairway/echo/a:1", value("a:1", 1))
	r := testResolver(t, dialTest(t, s.Endpoint()), WithResolveTimeout(50*time.Millisecond))
	_ = addresses(t, r, "echo")
	release := hang(t, r.disk.file("slow"))
	defer release()
	s.Kill()
	go func() { _, _ = r.Resolve(context.Background(), "slow") }()
	deadline := time.Now().Add(2 * time.Second)
	for range 50 {
		if got := addresses(t, r, "echo"); got != "a:1" {
			t.Fatalf("instances %q", got)
		}
		_, _ = r.Resolve(t.Context(), "slow")
		if time.Now().After(deadline.Add(20 * time.Second)) {
			t.Fatal("resolving takes for ever")
		}
	}
}

// hang makes a file whose reader waits until it is released.
func hang(t *testing.T, file string) (release func()) {
	t.Helper()
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	return func() {
		if f, err := os.OpenFile(file, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
			_ = f.Close()
		}
	}
}
