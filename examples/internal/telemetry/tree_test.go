// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package telemetry_test

import (
	"bytes"
	"context"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/retry"
	"github.com/cloudwego/kitex/server"
	"github.com/kitex-contrib/obs-opentelemetry/tracing"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/examples/internal/telemetry"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice"
	"github.com/fairway-rpc/fairway/loadbalance"
	"github.com/fairway-rpc/fairway/middleware"
)

// TestTreeOfSpansWithObsOpenTelemetry makes one call in a client that has Kitex's
// own tracing suite beside Fairway's: one client span, below it one pick span for
// each pick and one server span for each attempt that arrives.
func TestTreeOfSpansWithObsOpenTelemetry(t *testing.T) {
	timeouts := retry.NewFailurePolicy() // two retries
	for name, tt := range map[string]struct {
		opts     []client.Option
		delay    int32
		refusing bool
		attempts []int64 // of the picks
		served   int
		failed   bool
	}{
		"one attempt":    {attempts: []int64{0}, served: 1},
		"no connection":  {refusing: true, attempts: []int64{0, 0}, served: 1},
		"retries":        {opts: []client.Option{client.WithFailureRetry(timeouts), client.WithRPCTimeout(40 * time.Millisecond)}, delay: 100, attempts: []int64{0, 1, 2}, served: 3, failed: true},
		"backup request": {opts: []client.Option{client.WithBackupRequest(retry.NewBackupPolicy(20))}, delay: 100, attempts: []int64{0, 1}, served: 2},
	} {
		for _, first := range []bool{true, false} {
			t.Run(order(name, first), func(t *testing.T) {
				r, ended, stop := receiving(t)
				obs := client.WithSuite(tracing.NewClientSuite())
				suites := []client.Option{obs, client.WithSuite(ourSuite(t, tt.refusing))}
				if !first {
					slices.Reverse(suites)
				}
				cli, err := echoservice.NewClient("echo", append(suites, tt.opts...)...)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := cli.Echo(t.Context(), &echo.Request{DelayMs: tt.delay}); (err != nil) != tt.failed {
					t.Fatalf("the call returned %v", err)
				}
				waitFor(t, "all attempts have ended", func() bool { return servers(ended) == tt.served })
				stop()
				checkTree(t, r, tt.attempts, tt.served)
			})
		}
	}
}

func order(name string, obsFirst bool) string {
	if obsFirst {
		return name + "/obs first"
	}
	return name + "/obs last"
}

// receiving exports all spans to a receiver until stop, and tells which have ended.
func receiving(t *testing.T) (r *receiver, ended *tracetest.SpanRecorder, stop func()) {
	t.Helper()
	otel.SetTextMapPropagator(propagation.TraceContext{})
	r, address := startReceiver(t)
	stop, err := telemetry.Export(t.Context(), "test", address)
	if err != nil {
		t.Fatal(err)
	}
	ended = tracetest.NewSpanRecorder()
	otel.GetTracerProvider().(*sdktrace.TracerProvider).RegisterSpanProcessor(ended)
	return r, ended, stop
}

func servers(ended *tracetest.SpanRecorder) int {
	n := 0
	for _, s := range ended.Ended() {
		if s.SpanKind() == trace.SpanKindServer {
			n++
		}
	}
	return n
}

// ourSuite picks among three servers, or first of all an address that refuses.
func ourSuite(t *testing.T, withRefusing bool) client.Suite {
	t.Helper()
	list := discovery.NewStatic()
	t.Cleanup(func() { _ = list.Close() })
	weights := map[string]int{}
	for range 3 {
		weights[startServerWith(t, server.WithSuite(tracing.NewServerSuite()))] = 1
	}
	if withRefusing {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		weights[listener.Addr().String()] = 100
	}
	for address, weight := range weights {
		if err := list.Add(address, weight); err != nil {
			t.Fatal(err)
		}
	}
	balancer, err := loadbalance.New(loadbalance.SmoothWRR)
	if err != nil {
		t.Fatal(err)
	}
	return middleware.NewClientSuite(list, balancer)
}

func checkTree(t *testing.T, r *receiver, attempts []int64, served int) {
	t.Helper()
	calling := r.one(t, "a client's", func(s *tracepb.Span) bool { return s.Kind == tracepb.Span_SPAN_KIND_CLIENT })
	if len(calling.ParentSpanId) > 0 {
		t.Errorf("the client span has the parent %x", calling.ParentSpanId)
	}
	var picked []int64
	serving := 0
	for _, s := range r.all() {
		if s == calling {
			continue
		}
		if !bytes.Equal(s.ParentSpanId, calling.SpanId) || !bytes.Equal(s.TraceId, calling.TraceId) {
			t.Errorf("%s %v is not the client span's child", s.Kind, s.Name)
		}
		switch {
		case s.Name == "fairway.pick" && s.Kind == tracepb.Span_SPAN_KIND_INTERNAL:
			picked = append(picked, attemptOf(t, s))
		case s.Kind == tracepb.Span_SPAN_KIND_SERVER:
			serving++
		default:
			t.Errorf("a span %q of kind %v", s.Name, s.Kind)
		}
	}
	slices.Sort(picked)
	if !slices.Equal(picked, attempts) || serving != served {
		t.Errorf("picks of the attempts %v and %d server spans, want %v and %d", picked, serving, attempts, served)
	}
}

func attemptOf(t *testing.T, s *tracepb.Span) int64 {
	t.Helper()
	for _, a := range s.Attributes {
		if a.Key == "fairway.attempt" {
			return a.Value.GetIntValue()
		}
	}
	t.Errorf("no attempt in %v", s)
	return -1
}

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("not in time: " + what)
		}
	}
}
