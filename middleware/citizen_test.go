// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/client/callopt"
	"github.com/cloudwego/kitex/pkg/circuitbreak"
	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	"github.com/cloudwego/kitex/pkg/endpoint"
	"github.com/cloudwego/kitex/pkg/klog"
	kloadbalance "github.com/cloudwego/kitex/pkg/loadbalance"
	"github.com/cloudwego/kitex/pkg/proxy"
	"github.com/cloudwego/kitex/pkg/retry"
	"github.com/cloudwego/kitex/pkg/rpcinfo"
	"github.com/cloudwego/kitex/pkg/rpcinfo/remoteinfo"
	"github.com/cloudwego/kitex/pkg/xds"

	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice"
	"github.com/fairway-rpc/fairway/internal/echotest"
	"github.com/fairway-rpc/fairway/loadbalance"
	"github.com/fairway-rpc/fairway/middleware"
)

// lockedLog is written to by servers, too, which say when they listen.
type lockedLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// logOf returns the lines about clients that are logged meanwhile. Tests that use
// it are not parallel.
func logOf(f func()) string {
	var log lockedLog
	klog.SetOutput(&log)
	defer klog.SetOutput(os.Stderr)
	f()
	var lines strings.Builder
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "fairway: client of") {
			lines.WriteString(line)
		}
	}
	return lines.String()
}

// forward is a proxy that either leaves instances alone or sets one itself.
type forward struct{ to kdiscovery.Instance }

func (f *forward) Configure(c *proxy.Config) error {
	if f.to != nil {
		c.Resolver = nil
	}
	return nil
}

func (f *forward) ResolveProxyInstance(ctx context.Context) error {
	if f.to != nil {
		remoteinfo.AsRemoteInfo(rpcinfo.GetRPCInfo(ctx).To()).SetInstance(f.to)
	}
	return nil
}

// TestWithProxy: calls work, counts come back to none, and the log says what a
// proxy takes away.
func TestWithProxy(t *testing.T) {
	server := echotest.Start(t)
	for name, prx := range map[string]*forward{
		"of ours":        {},
		"of the proxy's": {kdiscovery.NewInstance("tcp", server.Address, 1, nil)},
	} {
		for _, first := range []bool{true, false} {
			t.Run(fmt.Sprintf("instances %s/first=%v", name, first), func(t *testing.T) {
				tp, recorder := tracing(t)
				opts := []client.Option{
					client.WithSuite(middleware.NewClientSuite(hosts(server.Address), balancer(t, loadbalance.LeastActive), middleware.WithTracerProvider(tp))),
				}
				if first {
					opts = append([]client.Option{client.WithProxy(prx)}, opts...)
				} else {
					opts = append(opts, client.WithProxy(prx))
				}
				var cli echoservice.Client
				log := logOf(func() { cli = newClient(t, opts...) })
				if strings.Count(log, "WithProxy") != 1 {
					t.Errorf("the log does not say it once: %q", log)
				}
				for range 3 {
					_ = call(t, cli)
				}
				spans := picks(recorder)
				if want := 3; prx.to == nil && len(spans) != want || prx.to != nil && len(spans) != 0 {
					t.Errorf("%d pick spans", len(spans))
				}
				for _, span := range spans {
					if got := attributes(span)["fairway.in_flight"].AsInt64(); got != 0 {
						t.Errorf("%d in flight with one call at a time", got)
					}
				}
			})
		}
	}
}

// TestCallsToAGivenHost make no pick and need no instance, and are counted where
// the instance is known.
func TestCallsToAGivenHost(t *testing.T) {
	server := echotest.Start(t)
	tp, recorder := tracing(t)
	cli := suiteClient(t, tp, static(t, map[string]int{"10.0.0.1:1": 0}))
	response, err := cli.Echo(t.Context(), &echo.Request{}, callopt.WithHostPort(server.Address))
	if err != nil || response.Instance != server.Address {
		t.Errorf("%v, %v", response, err)
	}
	if n := len(picks(recorder)); n != 0 {
		t.Errorf("%d pick spans", n)
	}
}

// TestXDSSuite: whichever is last says where instances are, the route is always
// xDS's, and the log says what is not used.
func TestXDSSuite(t *testing.T) {
	ours, theirs := echotest.Start(t), echotest.Start(t)
	var routed atomic.Int64
	router := func(next endpoint.Endpoint) endpoint.Endpoint {
		return func(ctx context.Context, request, response any) error {
			routed.Add(1)
			return next(ctx, request, response)
		}
	}
	xdsSuite := client.WithXDSSuite(xds.ClientSuite{RouterMiddleware: router, Resolver: hosts(theirs.Address)})
	suite := client.WithSuite(middleware.NewClientSuite(hosts(ours.Address), balancer(t, loadbalance.SmoothWRR)))
	for name, tt := range map[string]struct {
		opts      []client.Option
		want, log string
	}{
		"before": {[]client.Option{xdsSuite, suite}, ours.Address, "overrides the xDS suite's resolver"},
		"after":  {[]client.Option{suite, xdsSuite}, theirs.Address, "is not used"},
	} {
		t.Run(name, func(t *testing.T) {
			before := routed.Load()
			var cli echoservice.Client
			if log := logOf(func() { cli = newClient(t, tt.opts...) }); strings.Count(log, tt.log) != 1 {
				t.Errorf("logged %q, want %q once", log, tt.log)
			}
			if got := call(t, cli); got != tt.want || routed.Load() != before+1 {
				t.Errorf("answered by %s, want %s; routed %d times", got, tt.want, routed.Load()-before)
			}
		})
	}
}

// TestLaterOptionsThatReplaceTheSuites are logged, and what they set is used.
func TestLaterOptionsThatReplaceTheSuites(t *testing.T) {
	one, two := echotest.Start(t), echotest.Start(t)
	suite := client.WithSuite(middleware.NewClientSuite(hosts(one.Address), balancer(t, loadbalance.SmoothWRR)))
	for name, tt := range map[string]struct {
		later     client.Option
		want, log string
	}{
		"none":     {client.WithTag("a", "b"), one.Address, ""},
		"hosts":    {client.WithHostPorts(two.Address), two.Address, "the suite's resolver"},
		"resolver": {client.WithResolver(hosts(two.Address)), two.Address, "the suite's resolver"},
		"balancer": {client.WithLoadBalancer(kloadbalance.NewWeightedBalancer()), one.Address, "the suite's is not used"},
	} {
		t.Run(name, func(t *testing.T) {
			var cli echoservice.Client
			log := logOf(func() { cli = newClient(t, suite, tt.later) })
			if lines := strings.Count(log, "\n"); tt.log == "" && lines > 0 || tt.log != "" && (lines != 1 || !strings.Contains(log, tt.log)) {
				t.Errorf("logged %q, want %q", log, tt.log)
			}
			if got := call(t, cli); got != tt.want {
				t.Errorf("answered by %s, want %s", got, tt.want)
			}
		})
	}
}

type suiteOf []client.Option

func (s suiteOf) Options() []client.Option { return s }

// TestSuitesInAnyOrder: breakers, retries and middlewares of others may come
// before or after, also in suites of their own.
func TestSuitesInAnyOrder(t *testing.T) {
	server := echotest.Start(t)
	passes := func(next endpoint.Endpoint) endpoint.Endpoint { return next }
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			tp, recorder := tracing(t)
			ours := middleware.NewClientSuite(hosts(refusing(t), server.Address), balancer(t, loadbalance.RoundRobin), middleware.WithTracerProvider(tp))
			all := []client.Option{
				client.WithSuite(ours),
				client.WithSuite(suiteOf{client.WithMiddleware(passes), client.WithInstanceMW(passes)}),
				client.WithSuite(suiteOf{
					client.WithCircuitBreaker(circuitbreak.NewCBSuite(circuitbreak.RPCInfo2Key)),
					client.WithFailureRetry(retry.NewFailurePolicy()), retriesEnd(t),
				}),
			}
			cli := newClient(t, all[order[0]], all[order[1]], all[order[2]])
			for range 4 {
				if got := call(t, cli); got != server.Address {
					t.Errorf("answered by %q", got)
				}
			}
			spans := picks(recorder)
			if len(spans) < 5 { // two of the first two calls
				t.Errorf("%d picks, none after a refusal", len(spans))
			}
			if got := attributes(spans[len(spans)-1]); got["fairway.in_flight"].AsInt64() != 0 {
				t.Errorf("%d in flight with one call at a time", got["fairway.in_flight"].AsInt64())
			}
		})
	}
}
