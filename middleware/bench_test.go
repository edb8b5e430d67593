// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware_test

import (
	"context"
	"testing"

	"github.com/cloudwego/kitex/client"
	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	"github.com/cloudwego/kitex/pkg/rpcinfo"
	"go.opentelemetry.io/otel/trace"

	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/internal/echotest"
	"github.com/fairway-rpc/fairway/loadbalance"
	"github.com/fairway-rpc/fairway/middleware"
)

// BenchmarkPickSpan measures what the span adds to a pick that looks for an
// attempt, as the suite's do: no span in the context, one that is not sampled, and
// one that is recorded. "alone" is a pick without the suite.
func BenchmarkPickSpan(b *testing.B) {
	tp, _ := tracing(b)
	res := kdiscovery.Result{Cacheable: true, CacheKey: "bench", Instances: []kdiscovery.Instance{
		kdiscovery.NewInstance("tcp", "10.0.0.1:80", 10, nil), kdiscovery.NewInstance("tcp", "10.0.0.2:80", 20, nil),
	}}
	ri := rpcinfo.NewRPCInfo(nil, rpcinfo.NewEndpointInfo(service, "Echo", nil, nil), rpcinfo.NewInvocation(service, "Echo"), nil, nil)
	plain := rpcinfo.NewCtxWithRPCInfo(context.Background(), ri)
	unsampled := trace.ContextWithSpanContext(plain, trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1}}))
	recorded, span := tp.Tracer("bench").Start(plain, "client span")
	defer span.End()
	lb := balancer(b, loadbalance.WeightedRandom)
	traced := middleware.TracePicks(lb)
	run := func(name string, ctx context.Context, next func(context.Context)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				next(ctx)
			}
		})
	}
	without := func(ctx context.Context) { lb.GetPicker(res).Next(ctx, nil) }
	with := func(ctx context.Context) { traced.GetPicker(res).Next(ctx, nil) }
	off := middleware.TracePicks(lb, middleware.WithPickSpans(middleware.PickSpansOff))
	run("alone", plain, without)
	run("spans=off", plain, func(ctx context.Context) { off.GetPicker(res).Next(ctx, nil) })
	run("spans=sampled/parent=none", plain, with)
	run("spans=sampled/parent=unsampled", unsampled, with)
	run("spans=sampled/parent=recorded", recorded, with)
}

// BenchmarkCall makes real calls on loopback, with fixed hosts and with the
// suite.
func BenchmarkCall(b *testing.B) {
	server := echotest.Start(b)
	for _, bench := range []struct {
		name string
		opt  client.Option
	}{
		{"bare", client.WithHostPorts(server.Address)},
		{"suite", client.WithSuite(middleware.NewClientSuite(hosts(server.Address), balancer(b, loadbalance.SmoothWRR)))},
	} {
		b.Run(bench.name, func(b *testing.B) {
			cli := newClient(b, bench.opt)
			request := &echo.Request{Message: "hello"}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := cli.Echo(b.Context(), request); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkStubCall is a call whose transport does nothing, so that what the suite
// adds can be seen: nothing, the suite, and the suite with all that it can do.
func BenchmarkStubCall(b *testing.B) {
	const address = "10.0.0.1:1"
	measured, _ := meter(b)
	for _, bench := range []struct {
		name string
		opt  client.Option
	}{
		{"bare", client.WithHostPorts(address)},
		{"suite", client.WithSuite(middleware.NewClientSuite(hosts(address), balancer(b, loadbalance.SmoothWRR)))},
		{"suite and metrics", client.WithSuite(middleware.NewClientSuite(hosts(address), balancer(b, loadbalance.SmoothWRR), measured))},
		{"suite and ejection", client.WithSuite(middleware.NewClientSuite(hosts(address), balancer(b, loadbalance.SmoothWRR),
			middleware.WithEjection(middleware.Ejection{})))},
	} {
		b.Run(bench.name, func(b *testing.B) {
			cli := newClient(b, bench.opt, client.WithInstanceMW(stub()))
			request := &echo.Request{Message: "hello"}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := cli.Echo(b.Context(), request); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
