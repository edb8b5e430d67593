// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package faulttest

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/internal/echotest"
	"github.com/fairway-rpc/fairway/internal/etcdtest"
	"github.com/fairway-rpc/fairway/loadbalance"
)

// TestSuspectFallsIntoABlackHole: nothing comes back from its address, not even
// a refusal. Two probes that time out drop it.
func TestSuspectFallsIntoABlackHole(t *testing.T) {
	t.Parallel()
	res, _ := blackHole(t)
	// Five seconds and a fifth to the next probe, one for it, one for the wait
	// after it, one for the second.
	waitWithin(t, 10*time.Second, "two probes time out", func() bool { return status(t, res).Instances == 1 })
	if s := status(t, res); s.Suspects != 1 || s.GuardDropped["probes failed"] != 1 {
		t.Errorf("status %+v", s)
	}
}

// TestSuspectInABlackHoleIsCalled: two calls that get no connection drop it, and
// go elsewhere.
func TestSuspectInABlackHoleIsCalled(t *testing.T) {
	t.Parallel()
	res, well := blackHole(t, discovery.WithGuard(discovery.Guard{ProbeInterval: time.Minute}))
	load := startLoad(t, consumer(t, res, loadbalance.SmoothWRR))
	waitWithin(t, 5*time.Second, "two calls time out", func() bool { return status(t, res).Instances == 1 })
	if s := status(t, res); s.Suspects != 1 || s.GuardDropped["calls failed"] != 1 {
		t.Errorf("status %+v", s)
	}
	load.goesOn(50)
	load.noneFailed()
	if n := load.answeredBy(well.Address); n < 50 {
		t.Errorf("the other one answered %d calls", n)
	}
}

// blackHole is a consumer that holds two suspects, of which one falls into a
// black hole.
func blackHole(t *testing.T, opts ...discovery.ResolverOption) (*discovery.Resolver, *echotest.Server) {
	t.Helper()
	etcd := etcdtest.Start(t)
	cli := etcd.Client(t)
	lost, well := echotest.Start(t), echotest.Start(t)
	front := etcdtest.NewProxy(t, lost.Address)
	lease, err := cli.Grant(t.Context(), 600)
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{front.Addr(), well.Address} {
		record := fmt.Sprintf(`{"network":"tcp","address":%q,"weight":10}`, address)
		if _, err := cli.Put(t.Context(), "fairway/"+service+"/"+address, record, clientv3.WithLease(lease.ID)); err != nil {
			t.Fatal(err)
		}
	}
	res := resolver(t, etcd.Endpoint(), opts...)
	sees(t, res, 2, 0)
	if _, err := cli.Revoke(t.Context(), lease.ID); err != nil {
		t.Fatal(err)
	}
	sees(t, res, 2, 2)
	waitFor(t, "the first probe is answered", func() bool { return front.Accepted() > 0 })
	front.Cut()
	swallow(t, front.Addr())
	return res, well
}

// swallow makes an address one from which nothing comes back: the kernel drops
// what it has no room for in a listener's backlog.
func swallow(t *testing.T, address string) {
	t.Helper()
	at := netip.MustParseAddrPort(address)
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	for _, err := range []error{
		syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1),
		syscall.Bind(fd, &syscall.SockaddrInet4{Addr: at.Addr().As4(), Port: int(at.Port())}),
		syscall.Listen(fd, 0),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 10 {
		conn, err := net.DialTimeout("tcp", address, 200*time.Millisecond)
		if os.IsTimeout(err) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
	t.Skip("the backlog does not fill up here")
}
