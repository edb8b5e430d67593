// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package faulttest

import (
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/internal/etcdtest"
	"github.com/fairway-rpc/fairway/loadbalance"
)

// TestProviderIsStoppedAndContinued: the process of one of three stands still
// for three times its lease, as on a machine that is overloaded or migrated.
func TestProviderIsStoppedAndContinued(t *testing.T) {
	t.Parallel()
	const ttl = 2 * time.Second
	etcd := etcdtest.Start(t)
	_ = providers(t, 2, etcd.Endpoint(), discovery.WithTTL(ttl))
	stopped := startProcess(t, etcd.Endpoint(), "127.0.0.1:0", ttl)
	res := resolver(t, etcd.Endpoint())
	sees(t, res, 3, 0)
	load := startLoad(t, consumer(t, res, loadbalance.SmoothWRR, client.WithRPCTimeout(time.Second)))
	load.goesOn(50)
	cli := etcd.Client(t)
	own := "fairway/" + service + "/" + stopped.address
	began := time.Now()
	if err := stopped.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	sees(t, res, 2, 0)
	load.lasts(time.Second + time.Second/2) // those in flight to it end
	load.failedOnlyBy("timeout")
	later := load.fromNow()
	waitFor(t, "three times the lease pass", func() bool {
		if slices.Contains(keys(t, cli), own) {
			t.Fatal("the key has outlived its lease")
		}
		return time.Since(began) >= 3*ttl
	})
	before := load.answeredBy(stopped.address)
	if err := stopped.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	waitWithin(t, 2*time.Second, "it is registered again", func() bool { return slices.Contains(keys(t, cli), own) })
	sees(t, res, 3, 0)
	waitFor(t, "it is called again", func() bool { return load.answeredBy(stopped.address) > before+20 })
	if n := len(keys(t, cli)); n != 3 {
		t.Errorf("%d keys of three providers", n)
	}
	later.noneFailed()
}

// TestRollingRestart: each of four processes is stopped in order and replaced
// by another at a new address.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	const fleet = 4
	etcd := etcdtest.Start(t)
	start := func() *process { return startProcess(t, etcd.Endpoint(), "127.0.0.1:0", 10*time.Second) }
	var old []*process
	for range fleet {
		old = append(old, start())
	}
	res := resolver(t, etcd.Endpoint())
	sees(t, res, fleet, 0)
	load := startLoad(t, consumer(t, res, loadbalance.SmoothWRR))
	load.goesOn(50)
	for _, p := range old {
		if err := p.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		p.ends()
		successor := start()
		waitFor(t, "the new one is called", func() bool { return load.answeredBy(successor.address) > 20 })
	}
	load.noneFailed()
	sees(t, res, fleet, 0)
	s := status(t, res)
	if s.GuardHeld != 0 || s.State != discovery.FeedLive {
		t.Errorf("status %+v", s)
	}
	if n := len(keys(t, etcd.Client(t))); n != fleet {
		t.Errorf("%d keys of %d providers", n, fleet)
	}
}
