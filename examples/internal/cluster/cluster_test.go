// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/examples/internal/cluster"
)

func newEtcd(t *testing.T) *cluster.Etcd {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "etcd.log"))
	if err != nil {
		t.Fatal(err)
	}
	e := cluster.NewEtcd(t.TempDir(), log)
	t.Cleanup(func() {
		e.Stop()
		_ = log.Close()
	})
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return e
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.NewTimer(30 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("not within 30 s: %s", what)
		}
	}
}

func TestEtcdComesBackWithItsPortAndData(t *testing.T) {
	e := newEtcd(t)
	cli, err := discovery.Dial(discovery.EtcdConfig{Endpoints: []string{e.Endpoint()}})
	if err != nil {
		t.Fatal(err)
	}
	defer cli.Close()
	if _, err := cli.Put(t.Context(), "key", "value"); err != nil {
		t.Fatal(err)
	}
	events := cli.Watch(t.Context(), "key") // keeps a stream open

	endpoint, began := e.Endpoint(), time.Now()
	e.Stop()
	if e.Running() {
		t.Error("it runs after Stop")
	}
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("Stop took %v beside an open watch", took)
	}
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := e.Endpoint(); got != endpoint {
		t.Errorf("it is at %s after a restart, was at %s", got, endpoint)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	got, err := cli.Get(ctx, "key")
	if err != nil || len(got.Kvs) != 1 || string(got.Kvs[0].Value) != "value" {
		t.Errorf("got %v, %v; want the value from before the restart", got, err)
	}
	// A watch from "now" that etcd's client resumes begins again at the revision
	// it was created at, so it may well repeat the Put from before it.
	select {
	case r, open := <-events:
		if !open || r.Err() != nil {
			t.Errorf("the watch ended: %v", r.Err())
		}
	default:
	}
}

func TestWipedEtcdComesBackEmpty(t *testing.T) {
	e := newEtcd(t)
	cli, err := discovery.Dial(discovery.EtcdConfig{Endpoints: []string{e.Endpoint()}})
	if err != nil {
		t.Fatal(err)
	}
	defer cli.Close()
	if _, err := cli.Put(t.Context(), "key", "value"); err != nil {
		t.Fatal(err)
	}
	if err := e.Wipe(); !errors.Is(err, cluster.ErrBusy) {
		t.Errorf("wiping an etcd that runs: got %v, want ErrBusy", err)
	}
	endpoint := e.Endpoint()
	e.Stop()
	if err := e.Wipe(); err != nil {
		t.Fatal(err)
	}
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	got, err := cli.Get(ctx, "key")
	if err != nil || len(got.Kvs) != 0 || e.Endpoint() != endpoint {
		t.Errorf("got %v, %v at %s; want nothing at %s", got, err, e.Endpoint(), endpoint)
	}
}

func TestEtcdStartEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e := cluster.NewEtcd(t.TempDir(), os.Stderr)
	if err := e.Start(ctx); !errors.Is(err, context.Canceled) && err != nil {
		t.Errorf("got %v", err)
	}
	e.Stop()
	if e.Running() {
		t.Error("it runs after Stop")
	}
}

func TestProviderLeavesAndComesBack(t *testing.T) {
	e := newEtcd(t)
	cli, err := discovery.Dial(discovery.EtcdConfig{Endpoints: []string{e.Endpoint()}})
	if err != nil {
		t.Fatal(err)
	}
	defer cli.Close()
	reg, err := discovery.NewRegistry(cli, discovery.WithDrainDelay(0))
	if err != nil {
		t.Fatal(err)
	}
	defer reg.Close()
	p, err := cluster.NewProvider(reg, "echo", 7)
	if err != nil {
		t.Fatal(err)
	}
	registered := func() bool {
		r, err := cli.Get(t.Context(), "fairway/echo/"+p.Address)
		return err == nil && len(r.Kvs) == 1
	}
	eventually(t, "the provider is registered", registered)
	if err := p.Start(); !errors.Is(err, cluster.ErrBusy) {
		t.Errorf("starting a running provider: got %v, want ErrBusy", err)
	}
	address := p.Address
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	if registered() || p.State() != cluster.Stopped {
		t.Errorf("after Stop: registered %t, %s", registered(), p.State())
	}
	if err := p.Stop(); !errors.Is(err, cluster.ErrBusy) {
		t.Errorf("stopping a stopped provider: got %v, want ErrBusy", err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	if p.Address != address {
		t.Errorf("it is at %s after a restart, was at %s", p.Address, address)
	}
	eventually(t, "the provider is registered again", registered)
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
}
