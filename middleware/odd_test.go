// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware_test

import (
	"context"
	"testing"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/endpoint"

	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/internal/echotest"
	"github.com/fairway-rpc/fairway/loadbalance"
	"github.com/fairway-rpc/fairway/middleware"
)

// TestCountsSurviveOddMiddlewares: whatever stands around the suite, nothing is
// in flight after all calls have ended, and no count is below zero.
func TestCountsSurviveOddMiddlewares(t *testing.T) {
	twice := func(next endpoint.Endpoint) endpoint.Endpoint {
		return func(ctx context.Context, request, response any) error {
			_ = next(ctx, request, response)
			return next(ctx, request, response)
		}
	}
	panicking := func(next endpoint.Endpoint) endpoint.Endpoint {
		return func(ctx context.Context, request, response any) error {
			if args := request.(interface{ GetFirstArgument() any }); args.GetFirstArgument().(*echo.Request).Message == "panic" {
				panic("above the suite's instance middleware")
			}
			return next(ctx, request, response)
		}
	}
	for _, policy := range loadbalance.Policies() {
		server, other := echotest.Start(t), echotest.Start(t)
		plain := newClient(t, client.WithHostPorts(other.Address), client.WithLoadBalancer(balancer(t, policy)))
		nested := func(next endpoint.Endpoint) endpoint.Endpoint {
			return func(ctx context.Context, request, response any) error {
				if _, err := plain.Echo(ctx, &echo.Request{Message: "token"}); err != nil {
					return err
				}
				return next(ctx, request, response)
			}
		}
		for name, around := range map[string]struct{ before, after client.Option }{
			"called twice, outside":         {after: client.WithMiddleware(twice)},
			"called twice, inside":          {before: client.WithInstanceMW(twice)},
			"panic above the count":         {before: client.WithInstanceMW(panicking)},
			"panic below the count":         {after: client.WithInstanceMW(panicking)},
			"another call, inside":          {after: client.WithInstanceMW(nested)},
			"another call, above the suite": {before: client.WithInstanceMW(nested)},
		} {
			t.Run(policy+"/"+name, func(t *testing.T) {
				tp, recorder := tracing(t)
				suite := client.WithSuite(middleware.NewClientSuite(hosts(server.Address), balancer(t, policy), middleware.WithTracerProvider(tp)))
				var opts []client.Option
				for _, o := range []client.Option{around.before, suite, around.after} {
					if o.F != nil {
						opts = append(opts, o)
					}
				}
				cli := newClient(t, opts...)
				for _, message := range []string{"a", "panic", "b", "panic", "c"} {
					func() {
						defer func() { _ = recover() }()
						_, _ = cli.Echo(t.Context(), &echo.Request{Message: message})
					}()
				}
				_ = call(t, cli)
				spans := picks(recorder)
				if got := attributes(spans[len(spans)-1])["fairway.in_flight"].AsInt64(); got != 0 {
					t.Errorf("%d calls in flight after all have ended", got)
				}
			})
		}
	}
}

func TestSuiteGivenTwiceCountsRight(t *testing.T) {
	server := echotest.Start(t)
	tp, recorder := tracing(t)
	suite := client.WithSuite(middleware.NewClientSuite(hosts(server.Address), balancer(t, loadbalance.LeastActive), middleware.WithTracerProvider(tp)))
	cli := newClient(t, suite, suite)
	for range 5 {
		_ = call(t, cli)
	}
	for _, span := range picks(recorder) {
		if got := attributes(span)["fairway.in_flight"].AsInt64(); got != 0 {
			t.Errorf("%d calls in flight with one call at a time", got)
		}
	}
}
