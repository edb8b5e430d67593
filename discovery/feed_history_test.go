// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fairway-rpc/fairway/internal/etcdtest"
)

// TestHistoryThatDiffersInItsLeasesOnly: a small registry that was wiped and
// filled again in the same order has its old keys at their old revisions, and
// other values. The watch goes on as if nothing had happened.
func TestHistoryThatDiffersInItsLeasesOnly(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	p := etcdtest.NewProxy(t, s.Endpoint())
	before := putLeased(t, s.Client(t), "fairway/echo/a:1", value("a:1", 1))
	r := testResolver(t, connected(t, p.Addr()))
	waitFor(t, "a is known", func() bool { return weights(t, r) == "a:1=1,serving " })
	p.Cut()
	s.Wipe()
	s.Restart()
	cli := s.Client(t)
	if after := putLeased(t, cli, "fairway/echo/a:1", value("a:1", 9)); after != before {
		t.Fatalf("the key is at revision %d, was at %d", after, before)
	}
	put(t, cli, "fairway/other/b:1", value("b:1", 1)) // so that the watch is not silent
	p.Restore()
	waitWithin(t, 10*time.Second, "the new record of a is seen", func() bool { return weights(t, r) == "a:1=9,serving " })
}

// putLeased puts a key as providers do.
func putLeased(t *testing.T, cli *clientv3.Client, key, value string) int64 {
	t.Helper()
	lease, err := cli.Grant(t.Context(), 60)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := cli.Put(t.Context(), key, value, clientv3.WithLease(lease.ID))
	if err != nil {
		t.Fatal(err)
	}
	return resp.Header.Revision
}
