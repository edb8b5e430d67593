// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package faulttest

import (
	"fmt"
	"testing"
	"time"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/internal/etcdtest"
)

// TestRegistryGoesBackInTime: etcd is restored to a backup that is older than
// what the consumer has seen, with the same cluster ID, and one provider is not
// in it.
func TestRegistryGoesBackInTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, 10*time.Second)
	backup := w.etcd.Snapshot()
	provider(t, registry(t, w.etcd.Endpoint()))
	cli := w.etcd.Client(t)
	for range 50 { // so that the backup is far behind
		put(t, cli, "other", "x")
	}
	sees(t, w.resolver, 3, 0)
	w.load.goesOn(50)
	seen := status(t, w.resolver).Revision
	w.etcd.Restore(backup)
	late := provider(t, registry(t, w.etcd.Endpoint()))
	waitWithin(t, 10*time.Second, "a provider that comes afterwards is seen", func() bool {
		return knows(w.resolver, service, late.Address)
	})
	if now := status(t, w.resolver).Revision; now >= seen {
		t.Errorf("at revision %d after %d: the backup was not older", now, seen)
	}
	sees(t, w.resolver, 4, 0)
	w.load.goesOn(50)
	w.load.noneFailed()
}

// TestWipedRegistryOvertakesTheConsumer: while the consumer is cut off, etcd
// loses all data and is written past the revision that the consumer waits for.
// Neither cluster ID nor revision tells that it is another history. The
// providers are cut off too, so that it is an empty one.
func TestWipedRegistryOvertakesTheConsumer(t *testing.T) {
	t.Parallel()
	w := newApart(t, 3, 10*time.Second)
	w.load.goesOn(50)
	seen := status(t, w.resolver).Revision
	w.providersWay.Cut()
	w.consumersWay.Cut()
	w.etcd.Wipe()
	w.etcd.Restart()
	cli := w.etcd.Client(t)
	for put(t, cli, "other", "x") < seen+50 {
	}
	w.consumersWay.Restore()
	sees(t, w.resolver, 3, 3)
	w.load.goesOn(100)
	w.providersWay.Restore()
	sees(t, w.resolver, 3, 0)
	if s := status(t, w.resolver); s.GuardHeld != 3 || s.GuardReturned != 3 || s.Relists["diverged"] == 0 {
		t.Errorf("held %d, returned %d, listed again %v; want three, three, and because of a difference",
			s.GuardHeld, s.GuardReturned, s.Relists)
	}
	w.load.goesOn(50)
	w.load.noneFailed()
}

// TestHistoryIsCompactedWhileTheConsumerIsCutOff: the revision from which the
// consumer's watches want to go on is gone when it is back.
func TestHistoryIsCompactedWhileTheConsumerIsCutOff(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.Start(t)
	cli := etcd.Client(t)
	way := etcdtest.NewProxy(t, etcd.Endpoint())
	for i := range 5 {
		put(t, cli, fmt.Sprintf("fairway/echo/127.0.0.1:%d", i+1), record(fmt.Sprintf("127.0.0.1:%d", i+1)))
	}
	asked := &requests{}
	res := resolverOn(t, dialAs(t, discovery.EtcdConfig{Endpoints: []string{way.Addr()}, DialOptions: asked.options()}))
	sees(t, res, 5, 0)
	began := time.Now()
	way.Cut()
	if _, err := cli.Delete(t.Context(), "fairway/echo/127.0.0.1:1"); err != nil {
		t.Fatal(err)
	}
	put(t, cli, "fairway/echo/127.0.0.1:6", record("127.0.0.1:6"))
	put(t, cli, "fairway/echo/127.0.0.1:7", record("127.0.0.1:7"))
	etcd.Compact()
	lasts(t, time.Second)
	way.Restore()
	waitWithin(t, 10*time.Second, "the consumer knows what has changed", func() bool {
		return knows(res, service, "127.0.0.1:7") && !knows(res, service, "127.0.0.1:1")
	})
	sees(t, res, 6, 0)
	lasts(t, 5*time.Second) // for a loop to show
	if status(t, res).Relists["compacted"] == 0 {
		t.Errorf("listed again because of %v, want compaction among it", status(t, res).Relists)
	}
	if n := relists(t, res); n > 3 {
		t.Errorf("listed again %d times, want once, and little more", n)
	}
	// A list and a comparison are two reads each.
	if n := asked.since(began); n > 16 {
		t.Errorf("%d reads, want a handful", n)
	}
}
