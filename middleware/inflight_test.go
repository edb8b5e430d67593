// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/client/callopt"
	"github.com/cloudwego/kitex/pkg/endpoint"
	"github.com/cloudwego/kitex/pkg/retry"

	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice"
	"github.com/fairway-rpc/fairway/internal/echotest"
	"github.com/fairway-rpc/fairway/loadbalance"
	"github.com/fairway-rpc/fairway/middleware"
)

// TestCallsInFlightAreCountedToTheirRealEnd makes calls that end in every way
// and then asks the pick span how many are still in flight: none.
func TestCallsInFlightAreCountedToTheirRealEnd(t *testing.T) {
	boom := func(next endpoint.Endpoint) endpoint.Endpoint {
		return func(ctx context.Context, request, response any) error {
			if args, ok := request.(interface{ GetFirstArgument() any }); ok && args.GetFirstArgument().(*echo.Request).Message == "panic" {
				panic("below the pick")
			}
			return next(ctx, request, response)
		}
	}
	endings := map[string]func(t *testing.T, cli echoservice.Client){
		"success": func(_ *testing.T, cli echoservice.Client) { _, _ = cli.Echo(context.Background(), &echo.Request{}) },
		"business": func(_ *testing.T, cli echoservice.Client) {
			_, _ = cli.Echo(context.Background(), &echo.Request{Failure: echo.Failure_BUSINESS})
		},
		"remote error": func(_ *testing.T, cli echoservice.Client) {
			_, _ = cli.Echo(context.Background(), &echo.Request{Failure: echo.Failure_REMOTE})
		},
		"oneway": func(_ *testing.T, cli echoservice.Client) { _ = cli.Notify(context.Background(), &echo.Request{}) },
		"timeout": func(t *testing.T, cli echoservice.Client) {
			if _, err := cli.Echo(context.Background(), &echo.Request{DelayMs: 200}, callopt.WithRPCTimeout(10*time.Millisecond)); err == nil {
				t.Error("no timeout")
			}
		},
		"panic": func(_ *testing.T, cli echoservice.Client) {
			defer func() { _ = recover() }()
			_, _ = cli.Echo(context.Background(), &echo.Request{Message: "panic"})
		},
		"backup request": func(t *testing.T, cli echoservice.Client) {
			if _, err := cli.Echo(context.Background(), &echo.Request{DelayMs: 50}); err != nil {
				t.Error(err)
			}
		},
	}
	for _, policy := range loadbalance.Policies() {
		for name, end := range endings {
			t.Run(policy+"/"+name, func(t *testing.T) {
				t.Parallel()
				server := echotest.Start(t)
				tp, recorder := tracing(t)
				opts := []client.Option{
					client.WithSuite(middleware.NewClientSuite(hosts(server.Address), balancer(t, policy), middleware.WithTracerProvider(tp))),
					client.WithInstanceMW(boom),
				}
				if name == "backup request" {
					opts = append(opts, client.WithBackupRequest(retry.NewBackupPolicy(5)), retriesEnd(t))
				}
				cli := newClient(t, opts...)
				var all sync.WaitGroup
				for range 8 {
					all.Go(func() { end(t, cli) })
				}
				all.Wait()
				waitFor(t, "no call is in flight", func() bool {
					if _, err := cli.Echo(t.Context(), &echo.Request{Message: "probe"}); err != nil {
						return false
					}
					spans := picks(recorder)
					inFlight, counted := attributes(spans[len(spans)-1])["fairway.in_flight"]
					return counted && inFlight.AsInt64() == 0
				})
			})
		}
	}
}

// TestLeastActiveAvoidsTheSlow: while calls hang on one instance the others go
// to the other.
func TestLeastActiveAvoidsTheSlow(t *testing.T) {
	a, b := echotest.Start(t), echotest.Start(t)
	cli := newClient(t, client.WithSuite(middleware.NewClientSuite(hosts(a.Address, b.Address), balancer(t, loadbalance.LeastActive))))
	var slow sync.WaitGroup
	slow.Go(func() { _, _ = cli.Echo(t.Context(), &echo.Request{DelayMs: 300}) })
	waitFor(t, "the slow call is under way", func() bool { return a.Calls()+b.Calls() == 1 })
	idle := b
	if b.Calls() == 1 {
		idle = a
	}
	for range 20 {
		if got := call(t, cli); got != idle.Address {
			t.Errorf("answered by %s, where a call is in flight; %s is idle", got, idle.Address)
		}
	}
	slow.Wait()
}

// TestRetryGoesElsewhere: one of two instances refuses connections, and no call
// fails since Kitex's second pick never is the first again.
func TestRetryGoesElsewhere(t *testing.T) {
	server := echotest.Start(t)
	for _, policy := range loadbalance.Policies() {
		t.Run(policy, func(t *testing.T) {
			tp, recorder := tracing(t)
			cli := newClient(t, client.WithSuite(middleware.NewClientSuite(hosts("127.0.0.1:1", server.Address), balancer(t, policy), middleware.WithTracerProvider(tp))))
			for i := range 40 {
				if _, err := cli.Echo(t.Context(), &echo.Request{Message: string(rune('a' + i))}); err != nil {
					t.Fatal(err)
				}
			}
			if n := len(picks(recorder)); n > 80 {
				t.Errorf("%d picks for 40 calls; a retry went to the instance that had just refused", n)
			}
		})
	}
}
