// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package faulttest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/internal/echotest"
	"github.com/fairway-rpc/fairway/internal/etcdtest"
	"github.com/fairway-rpc/fairway/loadbalance"
)

// TestEtcdIsFull for several times the lease: leases are renewed, and nobody who
// is registered loses his key.
func TestEtcdIsFull(t *testing.T) {
	t.Parallel()
	const ttl = 2 * time.Second
	etcd := etcdtest.Start(t, etcdtest.WithFlags("--quota-backend-bytes=4194304"))
	all := providers(t, 3, etcd.Endpoint(), discovery.WithTTL(ttl))
	res := resolver(t, etcd.Endpoint())
	sees(t, res, 3, 0)
	load := startLoad(t, consumer(t, res, loadbalance.SmoothWRR))
	load.goesOn(50)
	cli := etcd.Client(t)
	fillUp(t, cli)
	before := versionsOf(t, cli, all)
	load.lasts(4 * ttl)
	if after := versionsOf(t, cli, all); after != before {
		t.Errorf("keys were lost and put back: %v, then %v", before, after)
	}
	if _, err := cli.Put(t.Context(), "one", "more"); !errors.Is(err, rpctypes.ErrNoSpace) {
		t.Fatalf("etcd is not full any more: %v", err)
	}
	sees(t, res, 3, 0)
	if s := state(res); s != discovery.FeedLive {
		t.Errorf("the feed is %s", s)
	}
	load.noneFailed()
}

func fillUp(t *testing.T, cli *clientv3.Client) {
	t.Helper()
	junk := strings.Repeat("x", 512<<10)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		if _, err := cli.Put(ctx, "junk", junk); errors.Is(err, rpctypes.ErrNoSpace) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// versionsOf are the revisions at which three providers' keys were written.
func versionsOf(t *testing.T, cli *clientv3.Client, all []*echotest.Server) (revisions [3]int64) {
	t.Helper()
	for n, p := range all {
		kv := getKey(t, cli, keyOf(p))
		if kv == nil {
			t.Fatalf("the key of %s is gone", p.Address)
		}
		revisions[n] = kv.modified
	}
	return revisions
}
