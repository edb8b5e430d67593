// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/internal/echotest"
	"github.com/fairway-rpc/fairway/loadbalance"
	"github.com/fairway-rpc/fairway/middleware"
)

// fleet is a list of instances of equal weight.
func fleet(t *testing.T, addresses ...string) *discovery.Static {
	t.Helper()
	weights := make(map[string]int, len(addresses))
	for _, a := range addresses {
		weights[a] = 10
	}
	return static(t, weights)
}

// fleetLoad calls a fleet of five, of which one fails always, from ten callers.
type fleetLoad struct {
	calls, failed atomic.Int64
	stop          atomic.Bool
	callers       sync.WaitGroup
}

func loadFleet(t *testing.T, opts ...middleware.ClientOption) *fleetLoad {
	t.Helper()
	bad := newRelay(t, "")
	bad.broken.Store(true)
	addresses := []string{bad.address()}
	for range 4 {
		addresses = append(addresses, echotest.Start(t).Address)
	}
	cli := newClient(t, client.WithSuite(middleware.NewClientSuite(fleet(t, addresses...), balancer(t, loadbalance.SmoothWRR), opts...)),
		client.WithRPCTimeout(time.Second))
	l := &fleetLoad{}
	for range 4 {
		l.callers.Go(func() {
			for !l.stop.Load() {
				if _, err := cli.Echo(t.Context(), &echo.Request{DelayMs: 2}); err != nil {
					l.failed.Add(1)
				}
				l.calls.Add(1)
			}
		})
	}
	t.Cleanup(func() {
		l.stop.Store(true)
		l.callers.Wait()
	})
	return l
}

// rate is the part of the next calls that fail.
func (l *fleetLoad) rate(t *testing.T, calls int64) float64 {
	t.Helper()
	before, failed := l.calls.Load(), l.failed.Load()
	waitFor(t, "calls go on", func() bool { return l.calls.Load() >= before+calls })
	return float64(l.failed.Load()-failed) / float64(l.calls.Load()-before)
}

// TestFailingInstanceIsEjected within two seconds, after which less than one call
// in a thousand fails; without ejection one in five does.
func TestFailingInstanceIsEjected(t *testing.T) {
	t.Run("with", func(t *testing.T) {
		l := loadFleet(t, middleware.WithEjection(middleware.Ejection{}))
		began := time.Now()
		waitWithin(t, 2*time.Second, "hardly any call fails", func() bool { return l.rate(t, 50) == 0 })
		t.Logf("after %v", time.Since(began))
		if rate := l.rate(t, 2000); rate > 0.001 {
			t.Errorf("%.2f %% of the calls fail", 100*rate)
		}
	})
	t.Run("without", func(t *testing.T) {
		l := loadFleet(t)
		_ = l.rate(t, 200)
		if rate := l.rate(t, 500); rate < 0.15 || rate > 0.25 {
			t.Errorf("%.2f %% of the calls fail, want a fifth", 100*rate)
		}
	})
}

// TestEjectedInstanceGetsANewChance: when it has recovered it has its share again,
// with a health check only once it is well.
func TestEjectedInstanceGetsANewChance(t *testing.T) {
	for name, more := range map[string][]middleware.ClientOption{
		"by itself":    nil,
		"when healthy": {middleware.WithHealthCheck(middleware.HealthCheck{Interval: 50 * time.Millisecond})},
	} {
		t.Run(name, func(t *testing.T) {
			bad, good := echotest.Start(t), echotest.Start(t)
			way := newRelay(t, bad.Address)
			way.broken.Store(true)
			lb := balancer(t, loadbalance.RoundRobin)
			opts := append(slices.Clone(more), middleware.WithEjection(middleware.Ejection{BaseTime: time.Second, ConsecutiveFailures: 3}))
			cli := newClient(t, client.WithSuite(middleware.NewClientSuite(fleet(t, way.address(), good.Address), lb, opts...)))
			waitFor(t, "an instance is ejected", func() bool {
				_, _ = cli.Echo(t.Context(), &echo.Request{})
				return stateOf(lb, func(i loadbalance.InstanceState) bool { return i.Ejected == "consecutive_failures" }) == 1
			})
			for range 20 {
				if got := call(t, cli); got != good.Address {
					t.Fatalf("answered by %s", got)
				}
			}
			way.broken.Store(false)
			waitFor(t, "it has come back", func() bool {
				return stateOf(lb, func(i loadbalance.InstanceState) bool { return i.Ejected != "" || i.Unhealthy }) == 0
			})
			seen := map[string]int{}
			for range 10 {
				seen[call(t, cli)]++
			}
			if len(seen) != 2 {
				t.Errorf("calls go to %v", seen)
			}
		})
	}
}

func stateOf(lb *loadbalance.Balancer, is func(loadbalance.InstanceState) bool) (n int) {
	for _, s := range lb.State() {
		for _, i := range s.Instances {
			if is(i) {
				n++
			}
		}
	}
	return n
}

// TestHealthCheckSkipsABlockedPort, and uses it again when it is open, without a
// failed call in between.
func TestHealthCheckSkipsABlockedPort(t *testing.T) {
	good := echotest.Start(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	blocked := listener.Addr().String()
	_ = listener.Close()
	lb := balancer(t, loadbalance.RoundRobin)
	list := fleet(t, good.Address)
	suite := middleware.NewClientSuite(list, lb, middleware.WithHealthCheck(middleware.HealthCheck{Interval: 20 * time.Millisecond}))
	cli := newClient(t, client.WithSuite(suite))
	_ = call(t, cli)
	if err := list.Add(blocked, 0); err != nil { // drained, so that the check comes first
		t.Fatal(err)
	}
	if err := list.SetWeight(blocked, 10); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "it is found unhealthy", func() bool { return stateOf(lb, func(i loadbalance.InstanceState) bool { return i.Unhealthy }) == 1 })
	for range 20 {
		if got := call(t, cli); got != good.Address {
			t.Fatalf("answered by %s", got)
		}
	}
	server := echotest.StartAt(t, blocked)
	waitFor(t, "it is used again", func() bool { return call(t, cli) == server.Address })
}

func TestAllUnhealthy(t *testing.T) {
	for name, closed := range map[string]bool{"open": false, "closed": true} {
		t.Run(name, func(t *testing.T) {
			good := echotest.Start(t)
			lb := balancer(t, loadbalance.RoundRobin)
			check := func(context.Context, string) error { return errors.New("no") }
			cli := newClient(t, client.WithSuite(middleware.NewClientSuite(fleet(t, good.Address), lb,
				middleware.WithEjection(middleware.Ejection{FailClosed: closed}),
				middleware.WithHealthCheck(middleware.HealthCheck{Check: check, Interval: 10 * time.Millisecond}))))
			_, _ = cli.Echo(t.Context(), &echo.Request{})
			waitFor(t, "it is found unhealthy", func() bool { return stateOf(lb, func(i loadbalance.InstanceState) bool { return i.Unhealthy }) == 1 })
			if !closed {
				_ = call(t, cli)
				return
			}
			var err error
			waitFor(t, "calls fail", func() bool {
				_, err = cli.Echo(t.Context(), &echo.Request{})
				return err != nil
			})
			if !errors.Is(err, loadbalance.ErrAllEjected) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestBadEjectionsAndChecksAreRefused(t *testing.T) {
	refused := func(name string, opt middleware.ClientOption) {
		t.Helper()
		defer func() {
			if err, _ := recover().(error); !errors.Is(err, middleware.ErrInvalidConfig) {
				t.Errorf("%s: %v", name, err)
			}
		}()
		middleware.NewClientSuite(fleet(t), balancer(t, loadbalance.RoundRobin), opt)
	}
	refused("share", middleware.WithEjection(middleware.Ejection{MaxShare: 2}))
	refused("interval", middleware.WithEjection(middleware.Ejection{Interval: -1}))
	refused("check", middleware.WithHealthCheck(middleware.HealthCheck{Interval: -1}))
	lb := balancer(t, loadbalance.RoundRobin)
	middleware.NewClientSuite(fleet(t), lb, middleware.WithEjection(middleware.Ejection{}))
	middleware.NewClientSuite(fleet(t), lb, middleware.WithEjection(middleware.Ejection{}))
	func() {
		defer func() { _ = recover() }()
		middleware.NewClientSuite(fleet(t), lb, middleware.WithEjection(middleware.Ejection{MaxShare: 0.1}))
		t.Error("a balancer that ejects in two ways")
	}()
}

// TestEjectionsAreCountedOnce, though two suites share the balancer.
func TestEjectionsAreCountedOnce(t *testing.T) {
	option, reader := meter(t)
	way := newRelay(t, "")
	way.broken.Store(true)
	list, lb := fleet(t, way.address(), echotest.Start(t).Address), balancer(t, loadbalance.RoundRobin)
	ejection := middleware.WithEjection(middleware.Ejection{ConsecutiveFailures: 2})
	_ = middleware.NewClientSuite(list, lb, option, ejection)
	cli := newClient(t, client.WithSuite(middleware.NewClientSuite(list, lb, option, ejection)))
	waitFor(t, "an instance is ejected", func() bool {
		_, _ = cli.Echo(t.Context(), &echo.Request{})
		return stateOf(lb, func(i loadbalance.InstanceState) bool { return i.Ejected != "" }) == 1
	})
	expect(t, reader, "fairway.client.ejections", map[string]int64{"fairway.ejection.cause=consecutive_failures,fairway.service=echo": 1})
}
