// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware_test

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/internal/echotest"
	"github.com/fairway-rpc/fairway/internal/etcdtest"
	"github.com/fairway-rpc/fairway/loadbalance"
	"github.com/fairway-rpc/fairway/middleware"
)

// TestProviderToConsumer is the whole path: a provider registers from its
// start-up code and a consumer calls it by the service's name, under each
// policy.
func TestProviderToConsumer(t *testing.T) {
	etcd := etcdtest.Start(t).Client(t)
	reg := registry(t, etcd, discovery.WithDrainDelay(0))
	one := provider(t, reg, middleware.WithWeight(30), middleware.WithTags(map[string]string{"zone": "a"}))
	two := provider(t, reg, middleware.WithWeight(10))
	res := resolver(t, etcd)
	waitFor(t, "both providers are known", func() bool {
		_, _ = res.Resolve(t.Context(), service)
		s, ok := res.Snapshot(service)
		return ok && len(s.Instances) == 2
	})
	for _, policy := range loadbalance.Policies() {
		t.Run(policy, func(t *testing.T) {
			cli := newClient(t, client.WithSuite(middleware.NewClientSuite(res, balancer(t, policy))))
			for range 40 {
				if got := call(t, cli); got != one.Address && got != two.Address {
					t.Fatalf("answered by %q", got)
				}
			}
			if err := cli.Notify(t.Context(), &echo.Request{Message: "oneway"}); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestOneServerUnderSeveralNames: they come and go together.
func TestOneServerUnderSeveralNames(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.Start(t).Client(t)
	reg := registry(t, etcd, discovery.WithDrainDelay(0))
	p := provider(t, reg, middleware.WithWeight(7), middleware.WithServiceNames("old.echo", service, "old.echo"))
	count := func() int64 {
		resp, err := etcd.Get(t.Context(), "fairway/", allKeys)
		if err != nil {
			t.Fatal(err)
		}
		return resp.Count
	}
	waitFor(t, "both names are registered", func() bool { return count() == 2 })
	res := resolver(t, etcd)
	for _, name := range []string{service, "old.echo"} {
		waitFor(t, "the provider is known as "+name, func() bool {
			r, err := res.Resolve(t.Context(), name)
			return err == nil && len(r.Instances) == 1 && r.Instances[0].Weight() == 7 && r.Instances[0].Address().String() == p.Address
		})
	}
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	if n := count(); n != 0 {
		t.Errorf("%d keys left", n)
	}
}

// TestStreamsArePicked opens a stream of each kind under each policy.
func TestStreamsArePicked(t *testing.T) {
	s := echotest.StartStreaming(t)
	for _, policy := range loadbalance.Policies() {
		t.Run(policy, func(t *testing.T) {
			cli := newClient(t, client.WithSuite(middleware.NewClientSuite(hosts(s.Address), balancer(t, policy))))
			chat, err := cli.Chat(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := chat.Send(t.Context(), &echo.Request{Message: "hi"}); err != nil {
				t.Fatal(err)
			}
			if r, err := chat.Recv(t.Context()); err != nil || r.Message != "hi" || r.Instance != s.Address {
				t.Fatal(r, err)
			}
			if err := chat.CloseSend(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := chat.Recv(t.Context()); !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			collect, err := cli.Collect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range []string{"a", "b"} {
				if err := collect.Send(t.Context(), &echo.Request{Message: part}); err != nil {
					t.Fatal(err)
				}
			}
			if r, err := collect.CloseAndRecv(t.Context()); err != nil || r.Message != "ab" {
				t.Fatal(r, err)
			}
			repeat, err := cli.Repeat(t.Context(), &echo.Request{Message: "xyz"})
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if r, err := repeat.Recv(t.Context()); err != nil || r.Message != "xyz" {
					t.Fatal(r, err)
				}
			}
			if _, err := repeat.Recv(t.Context()); !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
		})
	}
}

func TestWeightZeroRegistersButGetsNoCalls(t *testing.T) {
	etcd := etcdtest.Start(t).Client(t)
	reg := registry(t, etcd, discovery.WithDrainDelay(0))
	idle := provider(t, reg, middleware.WithWeight(0))
	busy := provider(t, reg)
	res := resolver(t, etcd)
	waitFor(t, "both providers are known", func() bool {
		_, _ = res.Resolve(t.Context(), service)
		s, ok := res.Snapshot(service)
		return ok && len(s.Instances) == 2
	})
	for _, policy := range loadbalance.Policies() {
		cli := newClient(t, client.WithSuite(middleware.NewClientSuite(res, balancer(t, policy))))
		for range 50 {
			if got := call(t, cli); got != busy.Address {
				t.Fatalf("%s: answered by %s, want only %s", policy, got, busy.Address)
			}
		}
	}
	if n := idle.Calls(); n != 0 {
		t.Errorf("a provider of weight 0 got %d calls", n)
	}
}

// TestNewProviderIsCalledByTheNextCalls: not after Kitex's five seconds.
func TestNewProviderIsCalledByTheNextCalls(t *testing.T) {
	etcd := etcdtest.Start(t).Client(t)
	reg := registry(t, etcd, discovery.WithDrainDelay(0))
	first := provider(t, reg)
	res := resolver(t, etcd)
	cli := newClient(t, client.WithSuite(middleware.NewClientSuite(res, balancer(t, loadbalance.SmoothWRR))))
	waitFor(t, "the first provider is known", func() bool {
		r, err := res.Resolve(t.Context(), service)
		return err == nil && len(r.Instances) == 1
	})
	if got := call(t, cli); got != first.Address {
		t.Fatalf("answered by %s", got)
	}
	second := provider(t, reg)
	waitFor(t, "the second provider is known", func() bool {
		s, _ := res.Snapshot(service)
		return len(s.Instances) == 2
	})
	known := time.Now()
	waitFor(t, "the second provider is called", func() bool { return call(t, cli) == second.Address })
	if took := time.Since(known); took > 2*time.Second { // far below Kitex's refresh, far above any stall of this machine
		t.Errorf("the second provider was called %v after it was known", took)
	}
}

// TestStoppedProviderFailsNoCall: 32 callers of a 20 ms method while one of two
// providers is stopped as on SIGTERM.
func TestStoppedProviderFailsNoCall(t *testing.T) {
	for _, policy := range loadbalance.Policies() {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			etcd := etcdtest.Start(t).Client(t)
			reg := registry(t, etcd)
			leaving, staying := provider(t, reg), provider(t, reg)
			res := resolver(t, etcd)
			waitFor(t, "both providers are known", func() bool {
				r, err := res.Resolve(t.Context(), service)
				return err == nil && len(r.Instances) == 2
			})
			cli := newClient(t, client.WithSuite(middleware.NewClientSuite(res, balancer(t, policy))))
			var stop atomic.Bool
			var failed, calls atomic.Int64
			var callers sync.WaitGroup
			for g := range 32 {
				callers.Go(func() {
					for i := 0; !stop.Load(); i++ {
						key := string(rune('a'+g%26)) + string(rune('a'+i%26))
						if _, err := cli.Echo(t.Context(), &echo.Request{Message: key, DelayMs: 20}); err != nil {
							failed.Add(1)
							t.Errorf("call failed: %v", err)
						}
						calls.Add(1)
					}
				})
			}
			waitFor(t, "both providers are called", func() bool { return leaving.Calls() > 20 && staying.Calls() > 20 })
			if err := leaving.Stop(); err != nil {
				t.Error(err)
			}
			before := calls.Load()
			waitFor(t, "calls go on", func() bool { return calls.Load() > before+200 })
			stop.Store(true)
			callers.Wait()
			t.Logf("%d calls, %d failed", calls.Load(), failed.Load())
		})
	}
}

// TestStopBeforeRegistration: a server that is stopped in its first second, in
// which Kitex has not registered it yet, neither panics nor leaves a key.
func TestStopBeforeRegistration(t *testing.T) {
	etcd := etcdtest.Start(t).Client(t)
	reg := registry(t, etcd)
	s := provider(t, reg)
	if got := call(t, newClient(t, client.WithHostPorts(s.Address))); got != s.Address { // it serves
		t.Fatalf("answered by %q", got)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	resp, err := etcd.Get(t.Context(), "fairway/", allKeys)
	if err != nil {
		t.Fatal(err)
	}
	if resp.Count != 0 {
		t.Errorf("%d keys left", resp.Count)
	}
}

// TestIdleConsumerOutlivesAnOutage: Kitex forgets a service that is idle, and
// asks again at the next call, which here falls into an outage of etcd.
func TestIdleConsumerOutlivesAnOutage(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	etcd := s.Client(t)
	reg := registry(t, s.Client(t), discovery.WithDrainDelay(0))
	one := provider(t, reg)
	res := &countingResolver{Resolver: resolver(t, etcd)}
	waitFor(t, "the provider is known", func() bool {
		r, err := res.Resolve(t.Context(), service)
		return err == nil && len(r.Instances) == 1
	})
	cli := newClient(t, client.WithSuite(middleware.NewClientSuite(res, balancer(t, loadbalance.SmoothWRR))))
	if got := call(t, cli); got != one.Address {
		t.Fatalf("answered by %s", got)
	}
	s.Kill()
	waitWithin(t, time.Minute, "Kitex no longer refreshes", func() bool { return time.Since(res.lastCall()) > 8*time.Second })
	if got := call(t, cli); got != one.Address {
		t.Errorf("after an idle time in the outage answered by %q", got)
	}
	s.Restart()
}
