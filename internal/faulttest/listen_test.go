// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package faulttest

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/internal/etcdtest"
)

// gap is a client's requests, with something happening between two of them.
type gap struct {
	clientv3.KV
	clientv3.Watcher

	afterGet    func(key string)
	beforeWatch func(key string)
}

func (g *gap) Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	resp, err := g.KV.Get(ctx, key, opts...)
	g.afterGet(key)
	return resp, err
}

func (g *gap) Watch(ctx context.Context, key string, opts ...clientv3.OpOption) clientv3.WatchChan {
	g.beforeWatch(key)
	return g.Watcher.Watch(ctx, key, opts...)
}

// TestKeyIsWrittenBetweenListAndWatch: at each point at which the consumer
// listens to nothing. It sees the key long before it would compare what it has.
func TestKeyIsWrittenBetweenListAndWatch(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.Start(t)
	direct := etcd.Client(t)
	cli := dial(t, testLog(t), etcd.Endpoint())
	written := atomic.Int64{}
	write := func(string) {
		if n := written.Add(1); n <= 4 { // two reads, two watches
			address := fmt.Sprintf("127.0.0.1:%d", n)
			put(t, direct, "fairway/echo/"+address, record(address))
		}
	}
	g := &gap{KV: cli.KV, Watcher: cli.Watcher, afterGet: write, beforeWatch: write}
	cli.KV, cli.Watcher = g, g
	res := resolverOn(t, cli)
	began := time.Now()
	sees(t, res, 4, 0)
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("took %v; was it the comparison that found the keys?", took)
	}
	if n := relists(t, res); n != 0 {
		t.Errorf("listed again because of %v", status(t, res).Relists)
	}
}

// TestOneOfTwoClustersIsDead: the consumer of the other one follows it at once
// and calls its providers only.
func TestOneOfTwoClustersIsDead(t *testing.T) {
	t.Parallel()
	dead, living := newWorld(t, 1, 10*time.Second), newWorld(t, 2, 10*time.Second)
	if dead.resolver.Name() == living.resolver.Name() {
		t.Errorf("both are called %s, so that Kitex takes one for the other", dead.resolver.Name())
	}
	dead.etcd.Freeze()
	waitWithin(t, noticed, "the feed of the dead one is stale", func() bool { return state(dead.resolver) == discovery.FeedStale })
	cli := living.etcd.Client(t)
	delays := make([]time.Duration, 50)
	for i := range delays {
		address := fmt.Sprintf("127.0.0.1:%d", i+1)
		put(t, cli, "fairway/other/"+address, record(address))
		delays[i] = waitWithin(t, 5*time.Second, address+" is seen", func() bool {
			_, _ = living.resolver.Resolve(t.Context(), "other")
			return knows(living.resolver, "other", address)
		})
	}
	slices.Sort(delays)
	if median := delays[len(delays)/2]; median > 100*time.Millisecond {
		t.Errorf("half of the changes took longer than %v", median)
	}
	for _, w := range []*world{dead, living} {
		w.load.goesOn(50)
		w.load.stop()
		w.load.noneFailed()
		w.callsOnlyItsOwn(t)
	}
	dead.etcd.Thaw()
}

// callsOnlyItsOwn checks who has answered.
func (w *world) callsOnlyItsOwn(t *testing.T) {
	t.Helper()
	own := 0
	for _, p := range w.providers {
		own += w.load.answeredBy(p.Address)
	}
	if all := w.load.calls.Load(); int64(own) != all {
		t.Errorf("%d of %d calls went to the cluster's own providers", own, all)
	}
}
