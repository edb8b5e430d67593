// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package faulttest

import (
	"testing"
	"time"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/internal/etcdtest"
	"github.com/fairway-rpc/fairway/loadbalance"
)

// TestLastProviderCrashes: its key is held when it expires, and nobody calls
// it, so that probes find out that it is dead.
func TestLastProviderCrashes(t *testing.T) {
	t.Parallel()
	const ttl = 2 * time.Second
	etcd := etcdtest.Start(t)
	p := startProcess(t, etcd.Endpoint(), "127.0.0.1:0", ttl)
	res := resolver(t, etcd.Endpoint())
	sees(t, res, 1, 0)
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	// At once, and a second later.
	waitFor(t, "the guard holds it", func() bool { return status(t, res).GuardHeld == 1 })
	waitWithin(t, 3*time.Second, "two probes fail", func() bool { return status(t, res).Instances == 0 })
	if s := status(t, res); s.GuardDropped["probes failed"] != 1 {
		t.Errorf("status %+v", s)
	}
}

// TestKeyOfTheLastProviderIsDeleted by hand while it serves and cannot put it
// back: it is held as long as it answers.
func TestKeyOfTheLastProviderIsDeleted(t *testing.T) {
	t.Parallel()
	p, res, load := lastIsDeleted(t)
	sees(t, res, 1, 1)
	load.lasts(7 * time.Second) // one probe at once, another after five seconds
	sees(t, res, 1, 1)
	load.noneFailed()
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	waitWithin(t, 2*time.Second, "two calls fail", func() bool { return status(t, res).Instances == 0 })
	if s := status(t, res); s.GuardDropped["calls failed"] != 1 {
		t.Errorf("status %+v", s)
	}
}

// TestWithoutTheGuardTheLastProviderIsLost is the control of
// TestKeyOfTheLastProviderIsDeleted.
func TestWithoutTheGuardTheLastProviderIsLost(t *testing.T) {
	t.Parallel()
	_, res, load := lastIsDeleted(t, discovery.WithGuard(discovery.Guard{Off: true}))
	sees(t, res, 0, 0)
	load.someFail()
}

func lastIsDeleted(t *testing.T, opts ...discovery.ResolverOption) (*process, *discovery.Resolver, *load) {
	t.Helper()
	etcd := etcdtest.Start(t)
	proxy := etcdtest.NewProxy(t, etcd.Endpoint())
	p := startProcess(t, proxy.Addr(), "127.0.0.1:0", time.Minute)
	res := resolver(t, etcd.Endpoint(), opts...)
	sees(t, res, 1, 0)
	load := startLoad(t, consumer(t, res, loadbalance.SmoothWRR))
	load.goesOn(50)
	proxy.Cut()
	if _, err := etcd.Client(t).Delete(t.Context(), "fairway/"+service+"/"+p.address); err != nil {
		t.Fatal(err)
	}
	return p, res, load
}

// TestLastProviderLeavesUnseen: it leaves in order while the consumer is cut
// off. The history says so afterwards, if it is still there; else the consumer
// learns no more than that its provider has vanished, which then refuses.
func TestLastProviderLeavesUnseen(t *testing.T) {
	for name, compacted := range map[string]bool{"history": false, "no history": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			etcd := etcdtest.Start(t)
			p := provider(t, registry(t, etcd.Endpoint()))
			proxy := etcdtest.NewProxy(t, etcd.Endpoint())
			res := resolver(t, proxy.Addr())
			sees(t, res, 1, 0)
			proxy.Cut()
			if err := p.Stop(); err != nil {
				t.Fatal(err)
			}
			if compacted {
				etcd.Compact()
			}
			if n := status(t, res).Instances; n != 1 {
				t.Fatalf("the consumer knows of %d while it is cut off", n)
			}
			proxy.Restore()
			if compacted {
				waitFor(t, "it is held", func() bool { return status(t, res).GuardHeld == 1 })
				waitWithin(t, 3*time.Second, "it refuses two probes", func() bool { return status(t, res).Instances == 0 })
				return
			}
			waitFor(t, "it is gone", func() bool { return status(t, res).Instances == 0 })
			if held := status(t, res).GuardHeld; held != 0 {
				t.Errorf("%d were held although the history tells of an orderly end", held)
			}
		})
	}
}
