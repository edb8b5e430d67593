// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fairway-rpc/fairway/discovery"
)

func TestMain(m *testing.M) {
	if status, ran := RunProcess(); ran {
		os.Exit(status)
	}
	os.Exit(m.Run())
}

// startProcess starts an etcd and a process that registers in it.
func startProcess(t *testing.T, ttl time.Duration) (p *Process, listed func() bool) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	etcd := NewEtcd(t.TempDir(), log)
	t.Cleanup(etcd.Stop)
	if err := etcd.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	cli, err := discovery.Dial(discovery.EtcdConfig{Endpoints: []string{etcd.Endpoint()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cli.Close() })
	p, err = StartProcess(t.Context(), ProcessConfig{Etcd: etcd.Endpoint(), Service: "echo", Weight: 7, TTL: ttl}, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Kill() })
	listed = func() bool {
		r, err := cli.Get(t.Context(), "fairway/echo/"+p.Address)
		if err != nil {
			t.Fatal(err)
		}
		return len(r.Kvs) == 1
	}
	until(t, "the process is registered", listed)
	return p, listed
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("not within 30 s: %s", what)
		}
	}
}

func TestKilledProcessLeavesItsKeyToTheLease(t *testing.T) {
	p, listed := startProcess(t, 3*time.Second)
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	if !listed() {
		t.Error("its key is gone at once, as after an orderly end")
	}
	if conn, err := net.DialTimeout("tcp", p.Address, time.Second); err == nil {
		_ = conn.Close()
		t.Error("something listens at its address")
	}
	if err := p.Kill(); err != nil {
		t.Errorf("killed again: %v", err)
	}
	until(t, "the lease runs out", func() bool { return !listed() })
}

// TestProcessEndsWithItsParent, which cannot always kill it.
func TestProcessEndsWithItsParent(t *testing.T) {
	p, _ := startProcess(t, time.Minute)
	if err := p.stdin.Close(); err != nil { // as the end of this process does
		t.Fatal(err)
	}
	until(t, "the process has ended", func() bool {
		conn, err := net.DialTimeout("tcp", p.Address, time.Second)
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	})
}

func TestProcessThatCannotStart(t *testing.T) {
	cfg := ProcessConfig{Etcd: "no port", Service: "echo", TTL: time.Second}
	if p, err := StartProcess(t.Context(), cfg, os.Stderr); err == nil {
		_ = p.Kill()
		t.Error("it started without an etcd to register in")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if p, err := StartProcess(ctx, ProcessConfig{Etcd: "127.0.0.1:1", Service: "echo", TTL: time.Second}, os.Stderr); err == nil {
		_ = p.Kill()
		t.Error("it started although the context had ended")
	}
}
