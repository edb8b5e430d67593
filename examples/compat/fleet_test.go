// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"context"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/internal/etcdtest"
)

// patience is how long a test waits for what ought to happen sooner.
const patience = 30 * time.Second

// fleet is one registry and the members that share it.
type fleet struct {
	endpoint string
	etcd     *clientv3.Client
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	srv := etcdtest.Start(t)
	return &fleet{endpoint: srv.Endpoint(), etcd: srv.Client(t)}
}

// start starts a member with this fleet's etcd.
func (f *fleet) start(t *testing.T, m member, env ...string) *process {
	t.Helper()
	m.Etcd = f.endpoint
	return start(t, m, env...)
}

// provider starts one and returns it with the address that it listens at. Kitex
// registers it a second later.
func (f *fleet) provider(t *testing.T, m member, env ...string) (p *process, address string) {
	t.Helper()
	m.Role = provider
	p = f.start(t, m, env...)
	waitFor(t, "a provider listens", func() bool { return p.printed(t, &address) })
	return p, address
}

// consumer starts one that calls without pause.
func (f *fleet) consumer(t *testing.T, l Library) *process {
	t.Helper()
	return f.start(t, member{Role: consumer, Library: l})
}

// tally returns what a consumer has seen so far.
func (p *process) tally(t *testing.T) tally {
	t.Helper()
	var now tally
	p.printed(t, &now)
	return now
}

// key is one of etcd's.
type key struct {
	Value string
	Lease clientv3.LeaseID
}

// keys returns what is registered, by the keys' last segments.
func (f *fleet) keys(t *testing.T) map[string]key {
	t.Helper()
	const folder = prefix + "/" + service + "/"
	resp, err := f.etcd.Get(t.Context(), folder, clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]key, len(resp.Kvs))
	for _, kv := range resp.Kvs {
		found[string(kv.Key[len(folder):])] = key{Value: string(kv.Value), Lease: clientv3.LeaseID(kv.Lease)}
	}
	return found
}

func (f *fleet) registered(t *testing.T, n int) {
	t.Helper()
	waitFor(t, "all are registered", func() bool { return len(f.keys(t)) == n })
}

// resolver returns Fairway's, in this process.
func (f *fleet) resolver(t *testing.T) *discovery.Resolver {
	t.Helper()
	res, err := discovery.NewResolver(f.etcd, discovery.WithPrefix(prefix), discovery.WithoutSnapshotDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Close() })
	return res
}

// oldView is what registry-etcd's resolver finds, by address.
func (f *fleet) oldView(t *testing.T) map[string]found {
	t.Helper()
	p := f.start(t, member{Role: resolver, Library: registryEtcd})
	var list []found
	waitFor(t, "registry-etcd's resolver answers", func() bool { return p.printed(t, &list) })
	view := make(map[string]found, len(list))
	for _, i := range list {
		view[i.Address] = i
	}
	return view
}

// waitFor polls until ok, and fails the test after a generous while.
func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	waitWithin(t, patience, what, ok)
}

func waitWithin(t *testing.T, within time.Duration, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("not within %v: %s", within, what)
		}
	}
}
