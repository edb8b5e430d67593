// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware_test

import (
	"context"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/remote/trans/ttstream"
	"github.com/cloudwego/kitex/pkg/retry"
	"github.com/cloudwego/kitex/server"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice"
	"github.com/fairway-rpc/fairway/internal/echotest"
	"github.com/fairway-rpc/fairway/internal/leaktest"
	"github.com/fairway-rpc/fairway/loadbalance"
	"github.com/fairway-rpc/fairway/middleware"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const service = "echo"

// waitLong is how long a test waits for what should come soon.
const waitLong = 10 * time.Second

// registry deregisters at once, but for tests about the delay.
func registry(t testing.TB, cli *clientv3.Client, opts ...discovery.RegistryOption) *discovery.Registry {
	t.Helper()
	reg, err := discovery.NewRegistry(cli, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reg.Close() })
	return reg
}

func resolver(t testing.TB, cli *clientv3.Client, opts ...discovery.ResolverOption) *discovery.Resolver {
	t.Helper()
	res, err := discovery.NewResolver(cli, append([]discovery.ResolverOption{discovery.WithoutSnapshotDir()}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Close() })
	return res
}

func balancer(t testing.TB, policy string) *loadbalance.Balancer {
	t.Helper()
	lb, err := loadbalance.New(policy, loadbalance.WithKey(func(_ context.Context, request any) string {
		if args, ok := request.(interface{ GetFirstArgument() any }); ok {
			return "message " + args.GetFirstArgument().(*echo.Request).Message
		}
		return "stream"
	}))
	if err != nil {
		t.Fatal(err)
	}
	return lb
}

// newClient makes a client that gives up connecting after 200 ms and closes the
// connections of streams with them: those of Kitex's default pool outlive the
// client.
func newClient(t testing.TB, opts ...client.Option) echoservice.Client {
	t.Helper()
	opts = append([]client.Option{
		client.WithConnectTimeout(200 * time.Millisecond),
		client.WithTTHeaderStreamingOptions(client.WithTTHeaderStreamingTransportOptions(ttstream.WithClientShortConnPool())),
	}, opts...)
	cli, err := echoservice.NewClient(service, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if c, ok := cli.(interface{ Close() error }); ok {
			_ = c.Close()
		}
	})
	return cli
}

// retriesEnd has what watches over a client's retries end with the test. Otherwise
// it ends with the client, which is when the garbage collector finds it.
func retriesEnd(t testing.TB) client.Option {
	t.Helper()
	container := retry.NewRetryContainerWithPercentageLimit()
	t.Cleanup(func() { _ = container.Close() })
	return client.WithRetryContainer(container)
}

func provider(t testing.TB, reg *discovery.Registry, opts ...middleware.ServerOption) *echotest.Server {
	t.Helper()
	return echotest.Start(t, server.WithSuite(middleware.NewServerSuite(reg, service, opts...)))
}

func waitFor(t testing.TB, what string, ok func() bool) {
	t.Helper()
	waitWithin(t, 20*time.Second, what, ok)
}

func waitWithin(t testing.TB, within time.Duration, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("not within %v: %s", within, what)
		}
	}
}

// call makes one call that must not fail, and returns who answered.
func call(t testing.TB, cli echoservice.Client) string {
	t.Helper()
	response, err := cli.Echo(t.Context(), &echo.Request{Message: "hello"})
	if err != nil {
		t.Errorf("call failed: %v", err)
		return ""
	}
	return response.Instance
}

// tracing records every span.
func tracing(t testing.TB) (*sdktrace.TracerProvider, *tracetest.SpanRecorder) {
	t.Helper()
	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	t.Cleanup(func() { _ = provider.Shutdown(context.Background()) })
	return provider, recorder
}

func picks(recorder *tracetest.SpanRecorder) []sdktrace.ReadOnlySpan {
	var spans []sdktrace.ReadOnlySpan
	for _, s := range recorder.Ended() {
		if s.Name() == "fairway.pick" {
			spans = append(spans, s)
		}
	}
	return spans
}

func attributes(s sdktrace.ReadOnlySpan) map[attribute.Key]attribute.Value {
	m := make(map[attribute.Key]attribute.Value)
	for _, kv := range s.Attributes() {
		m[kv.Key] = kv.Value
	}
	return m
}
