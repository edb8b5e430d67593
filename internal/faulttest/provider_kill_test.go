// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package faulttest

import (
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/remote"
	"github.com/cloudwego/kitex/pkg/remote/trans/netpoll"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/internal/etcdtest"
	"github.com/fairway-rpc/fairway/loadbalance"
)

// dialCounter counts attempts to connect to one address.
type dialCounter struct {
	remote.Dialer

	address string
	dials   atomic.Int64
}

func (d *dialCounter) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	if address == d.address {
		d.dials.Add(1)
	}
	return d.Dialer.DialTimeout(network, address, timeout)
}

// TestProviderIsKilledWhileEtcdIsDown: nobody can tell the consumers, which
// find out by themselves and then leave it in peace.
func TestProviderIsKilledWhileEtcdIsDown(t *testing.T) {
	t.Parallel()
	const ttl = 2 * time.Second
	etcd := etcdtest.Start(t)
	_ = providers(t, 2, etcd.Endpoint(), discovery.WithTTL(ttl))
	dead := startProcess(t, etcd.Endpoint(), "127.0.0.1:0", ttl)
	res := resolver(t, etcd.Endpoint())
	sees(t, res, 3, 0)
	dialer := &dialCounter{Dialer: netpoll.NewDialer(), address: dead.address}
	load := startLoad(t, consumer(t, res, loadbalance.SmoothWRR, client.WithDialer(dialer)))
	load.goesOn(50)
	etcd.Kill()
	load.lasts(ttl)
	load.noneFailed()
	if err := dead.Kill(); err != nil {
		t.Fatal(err)
	}
	// By then every caller has met it.
	load.lasts(time.Second / 2)
	load.failedAtMost(inFlight)
	later := load.fromNow()
	dials, since := dialer.dials.Load(), time.Now()
	load.lasts(8 * time.Second)
	n, took := dialer.dials.Load()-dials, time.Since(since)
	if n < 1 || float64(n) > 1+took.Seconds() {
		t.Errorf("%d attempts to connect within %v, want some, and at most one a second", n, took)
	}
	later.noneFailed()
	if s, ok := res.Snapshot(service); !ok || len(s.Instances) != 3 || s.State != discovery.FeedStale {
		t.Errorf("the consumer knew of its end by etcd, which was down: %+v", s)
	}
}
