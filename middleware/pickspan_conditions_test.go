// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware_test

import (
	"net"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/client/callopt"
	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	kloadbalance "github.com/cloudwego/kitex/pkg/loadbalance"
	"github.com/cloudwego/kitex/pkg/retry"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice"
	"github.com/fairway-rpc/fairway/internal/echotest"
	"github.com/fairway-rpc/fairway/internal/live"
	"github.com/fairway-rpc/fairway/loadbalance"
	"github.com/fairway-rpc/fairway/middleware"
)

// pickConditions are ways to pick, each with the conditions of the table in
// docs/observability.md that hold for its last pick.
var pickConditions = map[string]struct {
	conditions string
	picks      int // 0 for any number
	pick       func(*testing.T, *sdktrace.TracerProvider)
}{
	"outside of a call": {"chosen, port", 1, func(t *testing.T, tp *sdktrace.TracerProvider) {
		t.Helper()
		pickAlone(t, tp, kdiscovery.NewInstance("tcp", "10.0.0.1:1", 10, nil))
	}},
	"a Unix socket": {"chosen", 1, func(t *testing.T, tp *sdktrace.TracerProvider) {
		t.Helper()
		pickAlone(t, tp, kdiscovery.NewInstance("unix", "/run/echo.sock", 10, nil))
	}},
	"nobody, and nobody says why": {"failed", 1, func(t *testing.T, tp *sdktrace.TracerProvider) {
		t.Helper()
		pickAlone(t, tp)
	}},
	"a foreign balancer in a call": {"in a call, chosen, port", 1, func(t *testing.T, tp *sdktrace.TracerProvider) {
		t.Helper()
		traced := middleware.TracePicks(kloadbalance.NewWeightedBalancer(), middleware.WithTracerProvider(tp))
		_ = call(t, newClient(t, client.WithResolver(hosts(echotest.Start(t).Address)), client.WithLoadBalancer(traced)))
	}},
	"ours alone, which does not count": {"in a call, chosen, port", 1, func(t *testing.T, tp *sdktrace.TracerProvider) {
		t.Helper()
		traced := middleware.TracePicks(balancer(t, loadbalance.SmoothWRR), middleware.WithTracerProvider(tp))
		_ = call(t, newClient(t, client.WithResolver(hosts(echotest.Start(t).Address)), client.WithLoadBalancer(traced)))
	}},
	"ours alone, which counts": {"in a call, chosen, port, counted", 1, func(t *testing.T, tp *sdktrace.TracerProvider) {
		t.Helper()
		traced := middleware.TracePicks(balancer(t, loadbalance.LeastActive), middleware.WithTracerProvider(tp))
		_ = call(t, newClient(t, client.WithResolver(hosts(echotest.Start(t).Address)), client.WithLoadBalancer(traced)))
	}},
	"the suite, another resolver": {"in a call, chosen, port, counted", 1, func(t *testing.T, tp *sdktrace.TracerProvider) {
		t.Helper()
		_ = call(t, suiteClient(t, tp, hosts(echotest.Start(t).Address)))
	}},
	"a live list": {"in a call, chosen, port, counted, live", 1, func(t *testing.T, tp *sdktrace.TracerProvider) {
		t.Helper()
		_ = call(t, suiteClient(t, tp, static(t, map[string]int{echotest.Start(t).Address: 10})))
	}},
	"a live list, all drained": {"in a call, failed, live", 1, func(t *testing.T, tp *sdktrace.TracerProvider) {
		t.Helper()
		fails(t, suiteClient(t, tp, static(t, map[string]int{"10.0.0.1:1": 0})))
	}},
	"a retry": {"in a call, chosen, port, counted, excluded, live", 2, func(t *testing.T, tp *sdktrace.TracerProvider) {
		t.Helper()
		retries := retry.NewFailurePolicy()
		retries.WithMaxRetryTimes(1)
		one, two := echotest.Start(t), echotest.Start(t)
		cli := suiteClient(t, tp, static(t, map[string]int{one.Address: 1, two.Address: 1}), client.WithFailureRetry(retries), retriesEnd(t))
		if _, err := cli.Echo(t.Context(), &echo.Request{DelayMs: 200}, callopt.WithRPCTimeout(50*time.Millisecond)); err == nil {
			t.Error("the call has not timed out")
		}
	}},
	"one is aside": {"in a call, chosen, port, counted, aside, live", 0, func(t *testing.T, tp *sdktrace.TracerProvider) {
		t.Helper()
		other := echotest.Start(t)
		cli := suiteClient(t, tp, static(t, map[string]int{refusing(t): 100, other.Address: 1}))
		_ = call(t, cli)
		callsAsideOne(t, tp, cli)
	}},
	"a filter": {"in a call, chosen, port, counted, live, subset", 1, func(t *testing.T, tp *sdktrace.TracerProvider) {
		t.Helper()
		lb, err := loadbalance.New(loadbalance.RoundRobin, loadbalance.WithTagFilter(loadbalance.TagFilter{Key: "v", Value: "2", Preferred: true}))
		if err != nil {
			t.Fatal(err)
		}
		suite := middleware.NewClientSuite(static(t, map[string]int{echotest.Start(t).Address: 10}), lb, middleware.WithTracerProvider(tp))
		_ = call(t, newClient(t, client.WithSuite(suite)))
	}},
	"a suspect": {"in a call, chosen, port, counted, suspect, live, suspects", 1, func(t *testing.T, tp *sdktrace.TracerProvider) {
		t.Helper()
		_ = call(t, suiteClient(t, tp, suspects(t, echotest.Start(t).Address, func() {})))
	}},
	"another than a suspect": {"in a call, chosen, port, counted, live, suspects", 1, func(t *testing.T, tp *sdktrace.TracerProvider) {
		t.Helper()
		_ = call(t, suiteClient(t, tp, besideASuspect(t, echotest.Start(t).Address)))
	}},
}

// pickAlone picks once from the instances, outside of a call.
func pickAlone(t *testing.T, tp *sdktrace.TracerProvider, instances ...kdiscovery.Instance) {
	t.Helper()
	traced := middleware.TracePicks(kloadbalance.NewWeightedRoundRobinBalancer(), middleware.WithTracerProvider(tp))
	traced.GetPicker(kdiscovery.Result{CacheKey: t.Name(), Instances: instances}).Next(t.Context(), nil)
}

func suiteClient(t *testing.T, tp *sdktrace.TracerProvider, res kdiscovery.Resolver, more ...client.Option) echoservice.Client {
	t.Helper()
	suite := middleware.NewClientSuite(res, balancer(t, loadbalance.SmoothWRR), middleware.WithTracerProvider(tp))
	return newClient(t, append(more, client.WithSuite(suite))...)
}

// callsAsideOne makes calls until one is picked from a list in which somebody is
// aside: lists follow what calls find out.
func callsAsideOne(t *testing.T, tp *sdktrace.TracerProvider, cli echoservice.Client) {
	t.Helper()
	recorder := tracetest.NewSpanRecorder()
	tp.RegisterSpanProcessor(recorder)
	waitFor(t, "the list has it aside", func() bool {
		before := len(picks(recorder))
		_ = call(t, cli)
		now := picks(recorder)[before:]
		_, aside := attributes(now[0])["fairway.aside"]
		return len(now) == 1 && aside
	})
}

func fails(t *testing.T, cli echoservice.Client) {
	t.Helper()
	if _, err := cli.Echo(t.Context(), &echo.Request{}); err == nil {
		t.Error("the call has not failed")
	}
}

// refusing returns an address that nobody listens at.
func refusing(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// static makes a live list of addresses with their weights.
func static(t *testing.T, weights map[string]int) *discovery.Static {
	t.Helper()
	s := discovery.NewStatic()
	t.Cleanup(func() { _ = s.Close() })
	for address, weight := range weights {
		if err := s.Add(address, weight); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// besideASuspect makes a live list of an instance and a far lighter suspect.
func besideASuspect(t *testing.T, address string) kdiscovery.Resolver {
	t.Helper()
	res := hosts(address)
	view := &live.View{}
	set := &live.Set{Suspects: 1}
	for a, weight := range map[string]int{address: 100, "10.0.0.1:1": 1} {
		set.Nodes = append(set.Nodes, &live.Node{
			Instance: kdiscovery.NewInstance("tcp", a, weight, nil), Address: a, Weight: weight, Serving: true,
		})
		if a != address {
			set.Nodes[len(set.Nodes)-1].Suspect = live.NewSuspect(func() {})
		}
	}
	view.Publish(set)
	key := live.Key(res.Name(), "hosts")
	live.Enter(key, view)
	t.Cleanup(func() { live.Leave(key, view) })
	return res
}
