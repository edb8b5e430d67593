// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"
	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	kloadbalance "github.com/cloudwego/kitex/pkg/loadbalance"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/internal/echotest"
	"github.com/fairway-rpc/fairway/internal/etcdtest"
	"github.com/fairway-rpc/fairway/loadbalance"
	"github.com/fairway-rpc/fairway/middleware"
)

// hosts is a resolver of another make: fixed instances.
func hosts(addresses ...string) kdiscovery.Resolver {
	res := kdiscovery.Result{Cacheable: true, CacheKey: "hosts"}
	for _, a := range addresses {
		res.Instances = append(res.Instances, kdiscovery.NewInstance("tcp", a, 10, nil))
	}
	return fixedResolver(res)
}

func TestPickSpanIsAChildOfTheClientSpanAndSaysItAll(t *testing.T) {
	etcd := etcdtest.Start(t).Client(t)
	one := provider(t, registry(t, etcd, discovery.WithDrainDelay(0)), middleware.WithWeight(7))
	res := resolver(t, etcd)
	waitFor(t, "the provider is known", func() bool {
		r, err := res.Resolve(t.Context(), service)
		return err == nil && len(r.Instances) == 1
	})
	tp, recorder := tracing(t)
	cli := newClient(t, client.WithSuite(middleware.NewClientSuite(res, balancer(t, loadbalance.LeastActive), middleware.WithTracerProvider(tp))))
	ctx, parent := tp.Tracer("test").Start(t.Context(), "the client span")
	if _, err := cli.Echo(ctx, &echo.Request{}); err != nil {
		t.Fatal(err)
	}
	parent.End()
	spans := picks(recorder)
	if len(spans) != 1 {
		t.Fatalf("%d pick spans, want 1", len(spans))
	}
	span := spans[0]
	if span.Parent().SpanID() != parent.SpanContext().SpanID() || span.SpanKind() != trace.SpanKindInternal || span.Status().Code != codes.Unset {
		t.Errorf("parent %v, kind %v, status %v", span.Parent().SpanID(), span.SpanKind(), span.Status())
	}
	if scope := span.InstrumentationScope(); scope.Name != middleware.ScopeName || scope.Version == "" || scope.SchemaURL == "" {
		t.Errorf("scope %+v", scope)
	}
	got := attributes(span)
	for key, want := range map[attribute.Key]string{
		"fairway.policy": "least-active", "fairway.service": service, "rpc.method": "echo.EchoService/Echo", "fairway.candidates": "1",
		"fairway.attempt": "0", "fairway.weight": "7", "fairway.in_flight": "0", "fairway.snapshot.stale": "false",
		"fairway.snapshot.source": "etcd", "network.peer.address": "127.0.0.1",
	} {
		if got[key].String() != want {
			t.Errorf("%s is %q, want %q", key, got[key].String(), want)
		}
	}
	if host := "127.0.0.1:" + got["network.peer.port"].String(); host != one.Address {
		t.Errorf("peer %s, want %s", host, one.Address)
	}
	if got["fairway.snapshot.revision"].AsInt64() == 0 || got["fairway.snapshot.age"].AsFloat64() < 0 {
		t.Errorf("snapshot %v, %v", got["fairway.snapshot.revision"], got["fairway.snapshot.age"])
	}
	if _, set := got["error.type"]; set {
		t.Error("error.type on a pick that worked")
	}
}

// allUnhealthy is a list of one instance that is unhealthy by now, and a balancer
// that fails closed.
func allUnhealthy(t *testing.T) (*discovery.Static, *loadbalance.Balancer) {
	t.Helper()
	list, lb := static(t, map[string]int{"127.0.0.1:1": 1}), balancer(t, loadbalance.SmoothWRR)
	suite := middleware.NewClientSuite(list, lb, middleware.WithEjection(middleware.Ejection{FailClosed: true}),
		middleware.WithHealthCheck(middleware.HealthCheck{Interval: 10 * time.Millisecond}))
	cli := newClient(t, client.WithSuite(suite))
	waitFor(t, "picks fail", func() bool {
		_, err := cli.Echo(t.Context(), &echo.Request{})
		return errors.Is(err, loadbalance.ErrAllEjected)
	})
	return list, lb
}

// TestFailedPickSaysWhy: each reason in the table of docs/observability.md.
func TestFailedPickSaysWhy(t *testing.T) {
	one := kdiscovery.NewInstance("tcp", "127.0.0.1:1", 10, nil)
	withOptions := func(policy string, opts ...loadbalance.Option) *loadbalance.Balancer {
		lb, err := loadbalance.New(policy, opts...)
		if err != nil {
			t.Fatal(err)
		}
		return lb
	}
	reasons := map[string]func(tp trace.TracerProvider) client.Option{}
	for want, setup := range map[string]struct {
		res kdiscovery.Resolver
		lb  *loadbalance.Balancer
	}{
		"no_instance": {hosts(), balancer(t, loadbalance.SmoothWRR)},
		"all_drained": {static(t, map[string]int{"127.0.0.1:1": 0}), balancer(t, loadbalance.SmoothWRR)},
		"none_in_subset": {
			fixedResolver(kdiscovery.Result{Cacheable: true, CacheKey: "one", Instances: []kdiscovery.Instance{one}}),
			withOptions(loadbalance.SmoothWRR, loadbalance.WithTagFilter(loadbalance.TagFilter{Key: "zone", Value: "a"})),
		},
		"no_key": {hosts("127.0.0.1:1"), withOptions(loadbalance.ConsistentHash, loadbalance.WithKey(func(context.Context, any) string { return "" }))},
	} {
		reasons[want] = func(tp trace.TracerProvider) client.Option {
			return client.WithSuite(middleware.NewClientSuite(setup.res, setup.lb, middleware.WithTracerProvider(tp)))
		}
	}
	ill, closed := allUnhealthy(t)
	reasons["all_ejected"] = func(tp trace.TracerProvider) client.Option {
		return client.WithSuite(middleware.NewClientSuite(ill, closed, middleware.WithTracerProvider(tp)))
	}
	reasons["_OTHER"] = func(tp trace.TracerProvider) client.Option {
		return client.WithLoadBalancer(middleware.TracePicks(kloadbalance.NewWeightedBalancer(), middleware.WithTracerProvider(tp)))
	}
	for _, row := range rows(t, "### Failed picks") {
		want := row[0]
		suite := reasons[want]
		if suite == nil {
			t.Errorf("nothing makes a pick fail by %q", want)
			continue
		}
		delete(reasons, want)
		tp, recorder := tracing(t)
		fails(t, newClient(t, client.WithResolver(hosts()), suite(tp)))
		span := picks(recorder)[0]
		if got := attributes(span)["error.type"].AsString(); got != want || span.Status().Code != codes.Error || span.Status().Description == "" {
			t.Errorf("error.type %q, want %q; status %v", got, want, span.Status())
		}
	}
	if len(reasons) > 0 {
		t.Errorf("not documented: %v", slices.Collect(maps.Keys(reasons)))
	}
}

func TestModesOfPickSpans(t *testing.T) {
	server := echotest.Start(t)
	unsampled := trace.ContextWithSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1}}))
	sampled := trace.ContextWithSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1}, TraceFlags: trace.FlagsSampled}))
	for name, tt := range map[string]struct {
		mode                             middleware.PickSpans
		noParent, inUnsampled, inSampled int
	}{
		"sampled": {middleware.PickSpansSampled, 1, 0, 1},
		"all":     {middleware.PickSpansAll, 1, 1, 1},
		"off":     {middleware.PickSpansOff, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			recorder := tracetest.NewSpanRecorder()
			tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder), sdktrace.WithSampler(sdktrace.AlwaysSample()))
			cli := newClient(t, client.WithSuite(middleware.NewClientSuite(hosts(server.Address), balancer(t, loadbalance.SmoothWRR),
				middleware.WithTracerProvider(tp), middleware.WithPickSpans(tt.mode))))
			for _, step := range []struct {
				ctx  context.Context
				want int
			}{{t.Context(), tt.noParent}, {unsampled, tt.inUnsampled}, {sampled, tt.inSampled}} {
				before := len(picks(recorder))
				if _, err := cli.Echo(step.ctx, &echo.Request{}); err != nil {
					t.Fatal(err)
				}
				if got := len(picks(recorder)) - before; got != step.want {
					t.Errorf("%d spans, want %d", got, step.want)
				}
			}
		})
	}
}

// TestTracePicks puts the span around balancers of Kitex's own and of ours.
func TestTracePicks(t *testing.T) {
	server := echotest.Start(t)
	for name, lb := range map[string]kloadbalance.Loadbalancer{
		"weight_round_robin": kloadbalance.NewWeightedRoundRobinBalancer(),
		"smooth-wrr":         balancer(t, loadbalance.SmoothWRR),
	} {
		t.Run(name, func(t *testing.T) {
			tp, recorder := tracing(t)
			traced := middleware.TracePicks(lb, middleware.WithTracerProvider(tp))
			if _, ok := traced.(kloadbalance.Rebalancer); !ok {
				t.Error("no Rebalancer: Kitex would emit no change events")
			}
			cli := newClient(t, client.WithResolver(hosts(server.Address)), client.WithLoadBalancer(traced))
			if got := call(t, cli); got != server.Address {
				t.Fatalf("answered by %q", got)
			}
			spans := picks(recorder)
			if len(spans) != 1 {
				t.Fatalf("%d spans, want 1", len(spans))
			}
			if got := attributes(spans[0]); got["fairway.policy"].AsString() != name || got["fairway.candidates"].AsInt64() != 1 {
				t.Errorf("attributes %v", got)
			}
		})
	}
}
