// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/client/callopt"
	"github.com/cloudwego/kitex/pkg/connpool"
	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	"github.com/cloudwego/kitex/pkg/endpoint"
	"github.com/cloudwego/kitex/pkg/klog"
	"github.com/cloudwego/kitex/pkg/remote"
	"github.com/cloudwego/kitex/pkg/remote/trans/netpoll"

	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice"
	"github.com/fairway-rpc/fairway/internal/echotest"
	"github.com/fairway-rpc/fairway/internal/live"
	"github.com/fairway-rpc/fairway/loadbalance"
	"github.com/fairway-rpc/fairway/middleware"
)

// countingDialer counts the attempts to connect to one address.
type countingDialer struct {
	remote.Dialer

	address string
	dials   atomic.Int64
}

func (d *countingDialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	if address == d.address {
		d.dials.Add(1)
	}
	return d.Dialer.DialTimeout(network, address, timeout)
}

// callers call without a pause until stop, and count failures.
type callers struct {
	all            sync.WaitGroup
	done           chan struct{}
	calls, failure atomic.Int64
	perInstance    sync.Map // address to *atomic.Int64
}

const numCallers = 16

func startCallers(cli echoservice.Client) *callers {
	c := &callers{done: make(chan struct{})}
	for n := range numCallers {
		c.all.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-c.done:
					return
				default:
				}
				c.call(cli, fmt.Sprint(n, i%100))
			}
		})
	}
	return c
}

func (c *callers) call(cli echoservice.Client, message string) {
	response, err := cli.Echo(context.Background(), &echo.Request{Message: message, DelayMs: 1})
	c.calls.Add(1)
	if err != nil {
		c.failure.Add(1)
		return
	}
	count, _ := c.perInstance.LoadOrStore(response.Instance, new(atomic.Int64))
	count.(*atomic.Int64).Add(1)
}

func (c *callers) stop() {
	close(c.done)
	c.all.Wait()
}

func (c *callers) of(address string) int64 {
	count, _ := c.perInstance.LoadOrStore(address, new(atomic.Int64))
	return count.(*atomic.Int64).Load()
}

// TestKilledProviderThatTheListKeeps is what happens when a provider dies while
// the registry is down.
func TestKilledProviderThatTheListKeeps(t *testing.T) {
	long := client.WithLongConnection(connpool.IdleConfig{MaxIdlePerAddress: 32, MaxIdleGlobal: 100, MaxIdleTimeout: time.Minute})
	for n, policy := range loadbalance.Policies() {
		for _, suite := range []bool{true, false} {
			if policy != loadbalance.SmoothWRR && suite == (n%2 == 0) {
				continue // each policy in one of the ways, for it takes its time
			}
			t.Run(fmt.Sprintf("%s/suite=%v", policy, suite), func(t *testing.T) {
				t.Parallel()
				dead, other, third := echotest.Start(t), echotest.Start(t), echotest.Start(t)
				dialer := &countingDialer{Dialer: netpoll.NewDialer(), address: dead.Address}
				res, lb := hosts(dead.Address, other.Address, third.Address), balancer(t, policy)
				opts := []client.Option{client.WithDialer(dialer), long, client.WithResolver(res), client.WithLoadBalancer(lb)}
				if suite {
					opts = []client.Option{client.WithDialer(dialer), long, client.WithSuite(middleware.NewClientSuite(res, lb))}
				}
				load := startCallers(newClient(t, opts...))
				defer load.stop()
				waitFor(t, "all get calls", func() bool { return load.of(dead.Address) > 50 && load.of(other.Address) > 50 })

				began, calls, failed, dials := time.Now(), load.calls.Load(), load.failure.Load(), dialer.dials.Load()
				if err := dead.Stop(); err != nil {
					t.Fatal(err)
				}
				waitFor(t, "it is tried again, and again", func() bool { return dialer.dials.Load() > dials+numCallers+1 || time.Since(began) > 4*time.Second })
				took := time.Since(began)
				// All callers may connect at the same moment, and then one a second.
				if n := dialer.dials.Load() - dials; n < 3 || float64(n) > numCallers+1+took.Seconds() {
					t.Errorf("%d attempts to connect in %v", n, took)
				}
				if n := load.failure.Load() - failed; n > numCallers || load.calls.Load() < calls+100 {
					t.Errorf("%d of %d calls failed; at most %d were in flight", n, load.calls.Load()-calls, numCallers)
				}

				failed = load.failure.Load()
				before := load.of(dead.Address)
				_ = echotest.StartAt(t, dead.Address)
				waitFor(t, "it gets calls again", func() bool { return load.of(dead.Address) > before+50 })
				if n := load.failure.Load() - failed; n > 0 {
					t.Errorf("%d calls failed when it came back", n)
				}
			})
		}
	}
}

func TestWhoIsAsideIsSeen(t *testing.T) {
	server := echotest.Start(t)
	var log lockedLog
	klog.SetOutput(&log)
	defer klog.SetOutput(os.Stderr)
	tp, recorder := tracing(t)
	cli := newClient(t, client.WithSuite(middleware.NewClientSuite(hosts("127.0.0.1:1", server.Address), balancer(t, loadbalance.SmoothWRR), middleware.WithTracerProvider(tp))))
	waitFor(t, "a pick span tells", func() bool {
		_ = call(t, cli)
		spans := picks(recorder)
		return attributes(spans[len(spans)-1])["fairway.aside"].AsInt64() == 1
	})
	if first := attributes(picks(recorder)[0]); first["fairway.aside"].AsInt64() != 0 {
		t.Errorf("before anybody was aside: %v", first)
	}
	lines := 0
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "fairway: ") && strings.Contains(line, "no connection") && strings.Contains(line, "instance=127.0.0.1:1") {
			lines++
		}
	}
	if lines != 1 {
		t.Errorf("%d lines, want 1: %s", lines, log.String())
	}
}

// suspects makes a resolver of one live instance that is a suspect.
func suspects(t *testing.T, address string, drop func()) kdiscovery.Resolver {
	t.Helper()
	res := hosts(address)
	view := &live.View{}
	view.Publish(&live.Set{Suspects: 1, Nodes: []*live.Node{{
		Instance: kdiscovery.NewInstance("tcp", address, 10, nil), Address: address, Weight: 10, Serving: true, Suspect: live.NewSuspect(drop),
	}}})
	key := live.Key(res.Name(), "hosts")
	live.Enter(key, view)
	t.Cleanup(func() { live.Leave(key, view) })
	return res
}

func TestSuspectIsToldHowCallsWent(t *testing.T) {
	for name, tt := range map[string]struct {
		steps   string
		dropped bool
	}{
		"answers":                      {"ok business remote ok", false},
		"one time-out between answers": {"ok late ok late remote late business", false},
		"two time-outs":                {"ok late late", true},
		"a one-way call tells nothing": {"late oneway late", true},
		"a cancelled call does not":    {"late cancelled cancelled ok", false},
		"a server that has stopped":    {"ok stop dead dead", true},
	} {
		t.Run(name, func(t *testing.T) {
			server := echotest.Start(t)
			drops, ended := make(chan struct{}, 10), make(chan struct{}, 100)
			signal := func(next endpoint.Endpoint) endpoint.Endpoint { // when the attempt has really ended
				return func(ctx context.Context, request, response any) error {
					defer func() { ended <- struct{}{} }()
					return next(ctx, request, response)
				}
			}
			tp, recorder := tracing(t)
			res := suspects(t, server.Address, func() { drops <- struct{}{} })
			cli := newClient(t, client.WithInstanceMW(signal),
				client.WithSuite(middleware.NewClientSuite(res, balancer(t, loadbalance.SmoothWRR), middleware.WithTracerProvider(tp))))
			for step := range strings.FieldsSeq(tt.steps) {
				if step == "stop" {
					_ = server.Stop()
					continue
				}
				takeStep(t, cli, step)
				<-ended
			}
			if tt.dropped {
				waitFor(t, "it is dropped", func() bool { return len(drops) == 1 })
			} else if len(drops) > 0 {
				t.Error("dropped")
			}
			if got := attributes(picks(recorder)[0]); !got["fairway.suspect"].AsBool() || got["fairway.snapshot.suspects"].AsInt64() != 1 {
				t.Errorf("the pick span does not tell: %v", got)
			}
		})
	}
}

func takeStep(t *testing.T, cli echoservice.Client, step string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	request := &echo.Request{}
	switch step {
	case "business":
		request.Failure = echo.Failure_BUSINESS
	case "remote":
		request.Failure = echo.Failure_REMOTE
	case "late":
		request.DelayMs = 100
	case "cancelled":
		request.DelayMs = 20
		time.AfterFunc(5*time.Millisecond, cancel)
	case "oneway":
		if err := cli.Notify(ctx, request); err != nil {
			t.Error(err)
		}
		return
	}
	_, err := cli.Echo(ctx, request, callopt.WithRPCTimeout(60*time.Millisecond))
	if (err == nil) != (step == "ok" || step == "business") { // without TTHeader a business error has no way back
		t.Errorf("%s: %v", step, err)
	}
}
