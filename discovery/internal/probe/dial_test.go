// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// soon bounds what must happen on the loopback.
const soon = 20 * time.Second

// watched probes with the real dialer, fast.
func watched(t *testing.T, network, address string) (died chan struct{}, answered *atomic.Int32) {
	t.Helper()
	answered = &atomic.Int32{}
	p := New(Config{
		Interval: 20 * time.Millisecond, Retry: time.Millisecond, Timeout: 300 * time.Millisecond,
		Dial: func(ctx context.Context, network, address string) error {
			err := dial(ctx, network, address)
			if err == nil {
				answered.Add(1)
			}
			return err
		},
	})
	t.Cleanup(p.Close)
	died = make(chan struct{})
	p.Start(network, address, func() { close(died) })
	return died, answered
}

func mustDie(t *testing.T, died chan struct{}) {
	t.Helper()
	timer := time.NewTimer(soon)
	defer timer.Stop()
	select {
	case <-died:
	case <-timer.C:
		t.Fatalf("not found dead within %v", soon)
	}
}

func mustAnswer(t *testing.T, died chan struct{}, answered *atomic.Int32) {
	t.Helper()
	timer := time.NewTimer(soon)
	defer timer.Stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for answered.Load() < 3 {
		select {
		case <-died:
			t.Fatal("found dead, though it listens")
		case <-timer.C:
			t.Fatalf("%d answers within %v", answered.Load(), soon)
		case <-tick.C:
		}
	}
}

// accept takes connections until the listener is closed.
func accept(t *testing.T, l net.Listener) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
}

func TestListenerLivesUntilItRefuses(t *testing.T) {
	for network, address := range map[string]string{
		"tcp": "127.0.0.1:0", "tcp4": "127.0.0.1:0", "tcp6": "[::1]:0", "unix": filepath.Join(t.TempDir(), "s"),
	} {
		t.Run(network, func(t *testing.T) {
			l, err := net.Listen(network, address)
			if err != nil {
				t.Skipf("this machine has no %s: %v", network, err)
			}
			accept(t, l)
			died, answered := watched(t, network, l.Addr().String())
			mustAnswer(t, died, answered)
			_ = l.Close() // refuses from now on; a socket file is gone
			mustDie(t, died)
		})
	}
}

func TestSocketFileThatNobodyServesIsDead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Skip(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	_ = l.Close()
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	died, _ := watched(t, "unix", path)
	mustDie(t, died)
}

func TestAddressThatCannotBeIsDead(t *testing.T) {
	died, _ := watched(t, "tcp", "no address")
	mustDie(t, died)
}
