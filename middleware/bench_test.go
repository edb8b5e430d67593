// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"
	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	"github.com/cloudwego/kitex/pkg/rpcinfo"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.opentelemetry.io/otel/trace"

	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/internal/echotest"
	"github.com/fairway-rpc/fairway/internal/etcdtest"
	"github.com/fairway-rpc/fairway/internal/live"
	"github.com/fairway-rpc/fairway/loadbalance"
	"github.com/fairway-rpc/fairway/middleware"
)

// BenchmarkNewProviderToPick measures from the return of the Put that registers
// a provider to the first pick that chooses it; median and 99th percentile of
// all iterations in microseconds. Each iteration replaces the only other
// provider, so that the first pick after the change must choose the new one.
func BenchmarkNewProviderToPick(b *testing.B) {
	for _, policy := range loadbalance.Policies() {
		b.Run("policy="+policy, func(b *testing.B) {
			s := etcdtest.Start(b)
			provider, consumer := s.Client(b), s.Client(b)
			res, lb := resolver(b, consumer), balancer(b, policy)
			register(b, provider, 0)
			waitFor(b, "the first provider is known", func() bool {
				r, err := res.Resolve(b.Context(), service)
				return err == nil && len(r.Instances) == 1
			})
			result := kdiscovery.Result{Cacheable: true, CacheKey: live.Key(res.Name(), service)}
			took := make([]time.Duration, 0, 1024)
			n := 0
			for b.Loop() {
				n++
				address := register(b, provider, n)
				began := time.Now()
				for pickOnce(lb, result) != address {
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2])/1e3, "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100])/1e3, "p99-µs")
		})
	}
}

// register puts provider n in place of the one before.
func register(b *testing.B, cli *clientv3.Client, n int) string {
	b.Helper()
	address := fmt.Sprintf("10.0.%d.%d:8888", n/250%250, n%250)
	old := fmt.Sprintf("10.0.%d.%d:8888", (n-1)/250%250, (n-1)%250)
	ops := []clientv3.Op{clientv3.OpPut("fairway/echo/"+address, fmt.Sprintf(`{"network":"tcp","address":%q,"weight":10}`, address))}
	if n > 0 {
		ops = append(ops, clientv3.OpDelete("fairway/echo/"+old))
	}
	if _, err := cli.Txn(b.Context()).Then(ops...).Commit(); err != nil {
		b.Fatal(err)
	}
	return address
}

func pickOnce(lb *loadbalance.Balancer, res kdiscovery.Result) string {
	p := lb.GetPicker(res)
	instance := p.Next(context.Background(), nil)
	if r, ok := p.(interface{ Recycle() }); ok {
		r.Recycle()
	}
	if instance == nil {
		return ""
	}
	return instance.Address().String()
}

// BenchmarkPickSpan measures what the span adds to a pick: no span in the
// context, one that is not sampled, and one that is recorded.
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
	run("spans=off", plain, without)
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
