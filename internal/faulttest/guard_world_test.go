// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package faulttest

import (
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/internal/etcdtest"
	"github.com/fairway-rpc/fairway/loadbalance"
)

// stranded is a world whose providers reach etcd through a proxy of their own.
// Once that is cut they serve on and cannot come back into etcd.
type stranded struct {
	world

	t     testing.TB
	proxy *etcdtest.Proxy
	cli   *clientv3.Client
}

func newStranded(t testing.TB, n int, opts ...discovery.ResolverOption) *stranded {
	t.Helper()
	s := &stranded{t: t, world: world{etcd: etcdtest.Start(t)}}
	s.cli = s.etcd.Client(t)
	s.proxy = etcdtest.NewProxy(t, s.etcd.Endpoint())
	// A lease that runs out by itself only after the test.
	s.providers = providers(t, n, s.proxy.Addr(), discovery.WithTTL(time.Minute))
	s.resolver = resolver(t, s.etcd.Endpoint(), opts...)
	sees(t, s.resolver, n, 0)
	s.load = startLoad(t, consumer(t, s.resolver, loadbalance.SmoothWRR))
	return s
}

// strand cuts the providers off, until the end of the test.
func (s *stranded) strand() {
	s.t.Helper()
	s.t.Cleanup(s.proxy.Restore) // or each would wait for its end in etcd
	s.proxy.Cut()
}

// expire ends the lease of the provider at an address, as time does.
func (s *stranded) expire(address string) {
	s.t.Helper()
	resp, err := s.cli.Get(s.t.Context(), "fairway/"+service+"/"+address)
	if err != nil || len(resp.Kvs) != 1 {
		s.t.Fatalf("the key of %s: %v, %v", address, resp, err)
	}
	if _, err := s.cli.Revoke(s.t.Context(), clientv3.LeaseID(resp.Kvs[0].Lease)); err != nil {
		s.t.Fatal(err)
	}
}

// someFail waits until calls fail: in a control run, in which nothing protects
// them.
func (l *load) someFail() {
	l.t.Helper()
	waitFor(l.t, "calls fail without the protection", func() bool { return l.failed.Load() > 0 })
}

// inFlight is how many calls of one load fail at most when a provider dies or
// stops: one of each caller, and another where the caller began it before the
// first one's end had had its effect. The kernel closes the sockets of a killed
// process one after the other, and the listener may be the last.
const inFlight = 2 * callers

// failedAtMost fails the test if more calls have failed.
func (l *load) failedAtMost(n int64) {
	l.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed.Load() > n {
		l.t.Errorf("%d of %d calls failed, want at most %d: %v", l.failed.Load(), l.calls.Load(), n, l.errors)
	}
}

// failedOnlyBy fails the test if a call has failed with another error.
func (l *load) failedOnlyBy(part string) {
	l.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for text, n := range l.errors {
		if !strings.Contains(text, part) {
			l.t.Errorf("%d calls failed with %s", n, text)
		}
	}
}

// span is the calls of a load since a moment.
type span struct {
	load   *load
	before int64 // that had failed
}

func (l *load) fromNow() span { return span{l, l.failed.Load()} }

// noneFailed fails the test if a call has since.
func (s span) noneFailed() {
	s.load.t.Helper()
	s.load.mu.Lock()
	defer s.load.mu.Unlock()
	if n := s.load.failed.Load() - s.before; n > 0 {
		s.load.t.Errorf("%d calls failed later; all failures: %v", n, s.load.errors)
	}
}
