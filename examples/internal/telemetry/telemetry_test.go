// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package telemetry_test

import (
	"context"
	"encoding/hex"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"
	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	"github.com/cloudwego/kitex/pkg/rpcinfo"
	"github.com/cloudwego/kitex/server"
	"go.opentelemetry.io/otel"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"

	"github.com/fairway-rpc/fairway/examples/internal/echohandler"
	"github.com/fairway-rpc/fairway/examples/internal/telemetry"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice"
	"github.com/fairway-rpc/fairway/loadbalance"
	"github.com/fairway-rpc/fairway/middleware"
)

// receiver is an OTLP receiver that remembers spans.
type receiver struct {
	collector.UnimplementedTraceServiceServer

	mu    sync.Mutex
	spans []*tracepb.Span
}

func (r *receiver) Export(_ context.Context, request *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, resource := range request.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			r.spans = append(r.spans, scope.Spans...)
		}
	}
	return &collector.ExportTraceServiceResponse{}, nil
}

// all returns what was received so far.
func (r *receiver) all() []*tracepb.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.spans)
}

// one returns the only span for which ok says so.
func (r *receiver) one(t *testing.T, what string, ok func(*tracepb.Span) bool) *tracepb.Span {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []*tracepb.Span
	for _, s := range r.spans {
		if ok(s) {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d spans are %s, want 1; all: %v", len(found), what, r.spans)
	}
	return found[0]
}

func startReceiver(t *testing.T) (r *receiver, address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r, s := &receiver{}, grpc.NewServer()
	collector.RegisterTraceServiceServer(s, r)
	go func() {
		if err := s.Serve(listener); err != nil {
			t.Errorf("OTLP receiver: %v", err)
		}
	}()
	t.Cleanup(s.Stop)
	return r, listener.Addr().String()
}

func startServer(t *testing.T) (address string) {
	t.Helper()
	return startServerWith(t, server.WithSuite(telemetry.ServerSuite(otel.GetTracerProvider())))
}

func startServerWith(t *testing.T, tracing server.Option) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	exit, ended := make(chan error, 1), make(chan error, 1)
	s := echoservice.NewServer(&echohandler.Handler{},
		server.WithListener(listener),
		server.WithExitWaitTime(time.Second),
		server.WithExitSignal(func() <-chan error { return exit }),
		tracing)
	go func() { ended <- s.Run() }()
	t.Cleanup(func() {
		exit <- nil
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String()
}

// fixed is a resolver of one instance.
func fixed(address string) kdiscovery.Resolver {
	return &kdiscovery.SynthesizedResolver{
		TargetFunc: func(_ context.Context, to rpcinfo.EndpointInfo) string { return to.ServiceName() },
		ResolveFunc: func(_ context.Context, service string) (kdiscovery.Result, error) {
			return kdiscovery.Result{
				Cacheable: true, CacheKey: service,
				Instances: []kdiscovery.Instance{kdiscovery.NewInstance("tcp", address, 10, nil)},
			}, nil
		},
		NameFunc: func() string { return "fixed" },
	}
}

// TestTraceReachesTheReceiver follows one call: its client span has the pick
// and the server's span as children.
func TestTraceReachesTheReceiver(t *testing.T) {
	r, address := startReceiver(t)
	stop, err := telemetry.Export(t.Context(), "test", address)
	if err != nil {
		t.Fatal(err)
	}
	balancer, err := loadbalance.New(loadbalance.SmoothWRR)
	if err != nil {
		t.Fatal(err)
	}
	cli, err := echoservice.NewClient("echo",
		client.WithSuite(telemetry.ClientSuite(otel.GetTracerProvider())),
		client.WithSuite(middleware.NewClientSuite(fixed(startServer(t)), balancer)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cli.Echo(t.Context(), &echo.Request{Message: "hello"}); err != nil {
		t.Fatal(err)
	}
	stop()

	calling := r.one(t, "a client's", func(s *tracepb.Span) bool { return s.Kind == tracepb.Span_SPAN_KIND_CLIENT })
	if calling.Name != "EchoService/Echo" || len(calling.ParentSpanId) > 0 {
		t.Errorf("the client span is %q with the parent %x", calling.Name, calling.ParentSpanId)
	}
	pick := r.one(t, "a pick", func(s *tracepb.Span) bool { return s.Name == "fairway.pick" })
	serving := r.one(t, "a server's", func(s *tracepb.Span) bool { return s.Kind == tracepb.Span_SPAN_KIND_SERVER })
	for _, child := range []*tracepb.Span{pick, serving} {
		if got, want := hex.EncodeToString(child.ParentSpanId), hex.EncodeToString(calling.SpanId); got != want {
			t.Errorf("%s has the parent %q, want the client span %q", child.Name, got, want)
		}
		if got, want := hex.EncodeToString(child.TraceId), hex.EncodeToString(calling.TraceId); got != want {
			t.Errorf("%s is in the trace %q, want %q", child.Name, got, want)
		}
	}
}

func TestFailedCallIsAnErrorSpan(t *testing.T) {
	r, address := startReceiver(t)
	stop, err := telemetry.Export(t.Context(), "test", "http://"+address)
	if err != nil {
		t.Fatal(err)
	}
	cli, err := echoservice.NewClient("echo",
		client.WithSuite(telemetry.ClientSuite(otel.GetTracerProvider())),
		client.WithHostPorts(startServer(t)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cli.Echo(t.Context(), &echo.Request{Failure: echo.Failure_REMOTE}); err == nil {
		t.Fatal("the call has not failed")
	}
	stop()
	calling := r.one(t, "a client's", func(s *tracepb.Span) bool { return s.Kind == tracepb.Span_SPAN_KIND_CLIENT })
	if calling.Status.GetCode() != tracepb.Status_STATUS_CODE_ERROR {
		t.Errorf("the span's status is %v, want an error", calling.Status)
	}
}

func TestBadEndpoints(t *testing.T) {
	for _, endpoint := range []string{"collector", "ftp://collector:4317", "http://collector", "http://[::1"} {
		_, err := telemetry.Export(t.Context(), "test", endpoint)
		if err == nil || !strings.Contains(err.Error(), "OTLP endpoint") {
			t.Errorf("%q: got %v, want an error about the endpoint", endpoint, err)
		}
	}
}
