// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package faulttest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/internal/etcdtest"
	"github.com/fairway-rpc/fairway/loadbalance"
)

const (
	// noticed bounds how long silence goes unnoticed: the connection is pinged
	// every ten seconds and given up after three, and five later the feed is
	// stale.
	noticed = 18 * time.Second
	// closing bounds Close, whatever etcd does.
	closing = 5 * time.Second
)

// TestEtcdIsFrozen: its connections stay open and nothing answers.
func TestEtcdIsFrozen(t *testing.T) {
	t.Parallel()
	w := newApart(t, 3, 10*time.Second)
	goesSilent(t, w, w.etcd.Freeze, w.etcd.Thaw)
}

// TestNetworkSwallowsEverything: connections to etcd stay open and nothing gets
// through.
func TestNetworkSwallowsEverything(t *testing.T) {
	t.Parallel()
	w := newApart(t, 3, 10*time.Second)
	goesSilent(t, w, func() {
		w.providersWay.Blackhole()
		w.consumersWay.Blackhole()
	}, func() {
		w.providersWay.Restore()
		w.consumersWay.Restore()
	})
}

// goesSilent checks what must hold while etcd is silent, and after it.
func goesSilent(t *testing.T, w *apart, fail, heal func()) {
	t.Helper()
	reg := registry(t, w.providersWay.Addr())
	provider(t, reg)
	res := resolver(t, w.consumersWay.Addr())
	sees(t, res, 4, 0)
	sees(t, w.resolver, 4, 0)
	w.load.goesOn(50)
	fail()
	waitWithin(t, noticed, "the feed is stale", func() bool { return state(w.resolver) == discovery.FeedStale })
	for what, end := range map[string]func() error{"resolver": res.Close, "registry": reg.Close} {
		began := time.Now()
		if err := end(); err != nil {
			t.Errorf("close the %s: %v", what, err)
		}
		if took := time.Since(began); took > closing {
			t.Errorf("the %s took %v to close, want at most %v", what, took, closing)
		}
	}
	w.load.goesOn(50)
	if n := status(t, w.resolver).Instances; n != 4 {
		t.Errorf("%d instances are known in the silence, want four", n)
	}
	heal()
	waitFor(t, "etcd is followed again", func() bool { return state(w.resolver) == discovery.FeedLive })
	waitFor(t, "those that are registered are no suspects", func() bool {
		s := status(t, w.resolver)
		return s.Instances-s.Suspects == 3
	})
	w.load.goesOn(50)
	w.load.noneFailed()
}

// TestOneOfTwoEndpointsIsSilent: the other one serves, whichever of them it is.
func TestOneOfTwoEndpointsIsSilent(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.Start(t)
	cli := etcd.Client(t)
	ways := []*etcdtest.Proxy{etcdtest.NewProxy(t, etcd.Endpoint()), etcdtest.NewProxy(t, etcd.Endpoint())}
	put(t, cli, "fairway/echo/127.0.0.1:1", record("127.0.0.1:1"))
	res := resolverOn(t, dialAs(t, discovery.EtcdConfig{Endpoints: []string{ways[0].Addr(), ways[1].Addr()}}))
	sees(t, res, 1, 0)
	for i, way := range ways {
		way.Blackhole()
		address := fmt.Sprintf("127.0.0.1:%d", i+2)
		put(t, cli, "fairway/echo/"+address, record(address))
		waitWithin(t, noticed, "the change is seen by the other way", func() bool { return knows(res, service, address) })
		waitWithin(t, noticed, "the feed is live", func() bool { return state(res) == discovery.FeedLive })
		way.Restore()
	}
}

// TestTwoOfThreeMembersAreFrozen: nobody can say what is true, so the consumer
// stays with what it knows.
func TestTwoOfThreeMembersAreFrozen(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.StartCluster(t, 3)
	w := newClusterWorld(t, etcd, etcd.Endpoints()...)
	leader := etcd.Leader()
	frozen := slices.DeleteFunc(etcd.Members(), func(s *etcdtest.Server) bool {
		return s == etcd.Members()[(leader+1)%3]
	})
	for _, member := range frozen {
		member.Freeze()
	}
	waitWithin(t, noticed, "the feed is stale", func() bool { return state(w.resolver) == discovery.FeedStale })
	w.load.goesOn(100)
	if s := status(t, w.resolver); s.Instances != 3 || s.Suspects != 0 {
		t.Errorf("%d instances, %d suspects; want three, none", s.Instances, s.Suspects)
	}
	for _, member := range frozen {
		member.Thaw()
	}
	w.converges(t)
}

// TestLeaderIsFrozen: the providers know no other member, so that the next
// leader sees all their leases expire, though they live.
func TestLeaderIsFrozen(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.StartCluster(t, 3)
	leader := etcd.Members()[etcd.Leader()]
	w := newClusterWorld(t, etcd, leader.Endpoint())
	leader.Freeze()
	sees(t, w.resolver, 3, 3)
	waitFor(t, "the feed is live with the others", func() bool { return state(w.resolver) == discovery.FeedLive })
	w.load.goesOn(100)
	leader.Thaw()
	w.converges(t)
}

// newClusterWorld has providers that know some of the members, and a consumer
// that knows all.
func newClusterWorld(t *testing.T, etcd *etcdtest.Cluster, known ...string) *world {
	t.Helper()
	w := &world{
		providers: startProviders(t, discovery.EtcdConfig{Endpoints: known}, 3),
		resolver:  resolverOn(t, dialAs(t, discovery.EtcdConfig{Endpoints: etcd.Endpoints()})),
	}
	sees(t, w.resolver, 3, 0)
	w.load = startLoad(t, consumer(t, w.resolver, loadbalance.SmoothWRR))
	w.load.goesOn(50)
	t.Cleanup(func() { // nothing of the above ends well while a member is frozen
		for _, member := range etcd.Members() {
			member.Thaw()
		}
	})
	return w
}

// converges waits until the registry is as it was, and checks that no call has
// failed and that every instance got calls to the end.
func (w *world) converges(t *testing.T) {
	t.Helper()
	waitFor(t, "etcd is followed again", func() bool { return state(w.resolver) == discovery.FeedLive })
	sees(t, w.resolver, 3, 0)
	for _, p := range w.providers {
		before := w.load.answeredBy(p.Address)
		waitFor(t, p.Address+" gets calls", func() bool { return w.load.answeredBy(p.Address) > before })
	}
	w.load.noneFailed()
}
