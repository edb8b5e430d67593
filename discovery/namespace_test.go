// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"testing"

	"go.etcd.io/etcd/client/v3/namespace"

	"github.com/fairway-rpc/fairway/internal/etcdtest"
)

// TestClientInANamespace: keys are relative, so that a client wrapped by
// clientv3/namespace keeps a fleet apart.
func TestClientInANamespace(t *testing.T) {
	s := etcdtest.Start(t)
	inside := s.Client(t)
	inside.KV = namespace.NewKV(inside.KV, "team/")
	inside.Watcher = namespace.NewWatcher(inside.Watcher, "team/")
	inside.Lease = namespace.NewLease(inside.Lease, "team/")
	r := testResolver(t, inside)
	_ = addresses(t, r, "echo")
	reg := testRegistry(t, inside)
	info := infoOf("echo", "127.0.0.1:8888", 1)
	if err := reg.Register(info); err != nil {
		t.Fatal(err)
	}
	if n := keyCount(t, s.Client(t), "team/fairway/echo/"); n != 1 {
		t.Errorf("%d keys in the namespace, want 1", n)
	}
	waitFor(t, "the provider is seen", func() bool { return addresses(t, r, "echo") == "127.0.0.1:8888" })
	if err := reg.Deregister(info); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "it has left", func() bool { return addresses(t, r, "echo") == "" })
}
