// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fairway-rpc/fairway/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const (
	// soon bounds what must happen, briefly what must not.
	soon    = 20 * time.Second
	briefly = 300 * time.Millisecond
)

// eventually fails the test when cond does not hold within soon.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	timeout := time.NewTimer(soon)
	defer timeout.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-timeout.C:
			t.Fatalf("not within %v: %s", soon, what)
		case <-tick.C:
		}
	}
}

func refused(addr string) bool {
	conn, err := net.DialTimeout("tcp", addr, soon)
	if err == nil {
		_ = conn.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// occupy listens on addr until free is called.
func occupy(t *testing.T, addr string) (free func()) {
	t.Helper()
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return func() { _ = ln.Close() }
}

// inGoroutine runs f, which may end its goroutine, and returns when it has ended.
func inGoroutine(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

// key is the one that tests write.
const key = "k"

// put gives key the value v.
func put(t *testing.T, cli *clientv3.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	if _, err := cli.Put(ctx, key, "v"); err != nil {
		t.Fatalf("put: %v", err)
	}
}

// get returns the value of key, or "" when it has none.
func get(t *testing.T, cli *clientv3.Client) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	resp, err := cli.Get(ctx, key)
	if err != nil {
		t.Fatalf("get: %v", err)
	}
	if len(resp.Kvs) == 0 {
		return ""
	}
	return string(resp.Kvs[0].Value)
}

// mustHang fails the test when a read gets any answer.
func mustHang(t *testing.T, cli *clientv3.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), briefly)
	defer cancel()
	if _, err := cli.Get(ctx, key); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("get = %v, want no answer", err)
	}
}
