// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/cloudwego/kitex/pkg/registry"
	"github.com/cloudwego/kitex/pkg/utils"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fairway-rpc/fairway/internal/etcdtest"
)

// TestOneOfSeveralServersLeaves: the others' keys and leases are untouched.
func TestOneOfSeveralServersLeaves(t *testing.T) {
	t.Parallel()
	cli := etcdtest.Start(t).Client(t)
	r := testRegistry(t, cli)
	infos := []*registry.Info{
		infoOf("echo", echo1, 1),
		infoOf("echo", echo2, 1),
		infoOf("other-name", echo1, 1), // of the first server
		{ServiceName: "echo", Addr: utils.NewNetAddr("unix", filepath.Join(t.TempDir(), "echo.sock"))},
	}
	for _, info := range infos {
		if err := r.Register(info); err != nil {
			t.Fatal(err)
		}
	}
	before := keysUnder(t, cli)
	if len(before) != len(infos) {
		t.Fatalf("%d keys of %d servers", len(before), len(infos))
	}
	for n, info := range infos[:3] {
		if err := r.Deregister(info); err != nil {
			t.Fatal(err)
		}
		after := keysUnder(t, cli)
		if len(after) != len(infos)-n-1 {
			t.Fatalf("%d keys after %d have left", len(after), n+1)
		}
		for key, kv := range after {
			if kv != before[key] {
				t.Errorf("%s went from %+v to %+v", key, before[key], kv)
			}
		}
		leases, err := cli.Leases(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(leases.Leases) != len(after) {
			t.Errorf("%d leases for %d keys", len(leases.Leases), len(after))
		}
	}
}

type keyInEtcd struct{ lease, revision int64 }

func keysUnder(t *testing.T, cli *clientv3.Client) map[string]keyInEtcd {
	t.Helper()
	resp, err := cli.Get(t.Context(), "fairway/", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	keys := make(map[string]keyInEtcd)
	for _, kv := range resp.Kvs {
		keys[string(kv.Key)] = keyInEtcd{kv.Lease, kv.ModRevision}
	}
	return keys
}

func TestServersThatStopTogetherShareOneDelay(t *testing.T) {
	began := time.Unix(1e9, 0)
	d := &sharedDelay{delay: 10 * time.Second}
	for _, tt := range []struct{ at, want time.Duration }{
		{0, 10 * time.Second},
		{0, 10 * time.Second},
		{time.Second, 9 * time.Second},
		{1001 * time.Millisecond, 10 * time.Second}, // its consumers need theirs
		{2 * time.Second, 9001 * time.Millisecond},
		{time.Hour, 10 * time.Second},
	} {
		if got := d.left(began.Add(tt.at)); got != tt.want {
			t.Errorf("who comes after %v waits %v, want %v", tt.at, got, tt.want)
		}
	}
}

func TestConcurrentDeregistersTakeOneDelay(t *testing.T) {
	t.Parallel()
	cli := etcdtest.Start(t).Client(t)
	const delay = time.Second
	r := testRegistry(t, cli, WithDrainDelay(delay))
	infos := []*registry.Info{infoOf("echo", echo1, 1), infoOf("echo", echo2, 1), infoOf("other", echo1, 1)}
	for _, info := range infos {
		if err := r.Register(info); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	var all sync.WaitGroup
	for _, info := range infos {
		all.Go(func() { _ = r.Deregister(info) })
	}
	all.Wait()
	if took := time.Since(began); took < delay*9/10 || took > 2*delay {
		t.Errorf("took %v, want about one delay of %v", took, delay)
	}
}
