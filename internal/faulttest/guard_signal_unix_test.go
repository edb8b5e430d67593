// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package faulttest

import (
	"syscall"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/internal/etcdtest"
	"github.com/fairway-rpc/fairway/loadbalance"
)

// TestLastProviderLeavesInOrder: it says so, and is gone at once.
func TestLastProviderLeavesInOrder(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.Start(t)
	p := startProcess(t, etcd.Endpoint(), "127.0.0.1:0", 10*time.Second)
	res := resolver(t, etcd.Endpoint())
	sees(t, res, 1, 0)
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	waitWithin(t, time.Second, "it is gone", func() bool { return status(t, res).Instances == 0 })
	if s := status(t, res); s.GuardHeld != 0 {
		t.Errorf("it was held although it left in order: %+v", s)
	}
	p.ends()
}

// TestSuspectIsStopped: its kernel goes on accepting connections, so that only
// calls tell.
func TestSuspectIsStopped(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.Start(t)
	proxy := etcdtest.NewProxy(t, etcd.Endpoint())
	all := []*process{startProcess(t, proxy.Addr(), "127.0.0.1:0", time.Minute), startProcess(t, proxy.Addr(), "127.0.0.1:0", time.Minute)}
	res := resolver(t, etcd.Endpoint())
	sees(t, res, 2, 0)
	load := startLoad(t, consumer(t, res, loadbalance.SmoothWRR, client.WithRPCTimeout(time.Second)))
	load.goesOn(50)
	proxy.Cut()
	cli := etcd.Client(t)
	for _, p := range all {
		if _, err := cli.Delete(t.Context(), "fairway/"+service+"/"+p.address); err != nil {
			t.Fatal(err)
		}
	}
	sees(t, res, 2, 2)
	load.noneFailed()
	if err := all[0].Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	waitWithin(t, 3*time.Second, "two calls fail", func() bool { return status(t, res).Instances == 1 })
	if s := status(t, res); s.GuardDropped["calls failed"] != 1 {
		t.Errorf("status %+v", s)
	}
	load.lasts(2 * time.Second) // those in flight end
	load.failedAtMost(inFlight)
	load.failedOnlyBy("timeout")
	if got := status(t, res); got.Suspects != 1 || got.State != discovery.FeedLive {
		t.Errorf("status %+v", got)
	}
}
