// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/client/callopt"
	"github.com/cloudwego/kitex/pkg/endpoint"
	"github.com/cloudwego/kitex/pkg/kerrors"
	"github.com/cloudwego/kitex/pkg/retry"
	"github.com/cloudwego/kitex/pkg/rpcinfo"

	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice"
	"github.com/fairway-rpc/fairway/loadbalance"
	"github.com/fairway-rpc/fairway/middleware"
)

// message is what a call asks for, "" if it is one-way.
func message(request any) string {
	if args, ok := request.(interface{ GetFirstArgument() any }); ok {
		if r, ok := args.GetFirstArgument().(*echo.Request); ok {
			return r.Message
		}
	}
	return ""
}

// stub is in place of the transport: calls end as their message says.
func stub() endpoint.Middleware {
	var connections atomic.Int64
	return func(endpoint.Endpoint) endpoint.Endpoint {
		return func(ctx context.Context, request, _ any) error {
			switch message(request) {
			case "business":
				if set, ok := rpcinfo.GetRPCInfo(ctx).Invocation().(rpcinfo.InvocationSetter); ok {
					set.SetBizStatusErr(kerrors.NewBizStatusError(1, "no"))
				}
			case "remote":
				return kerrors.ErrRemoteOrNetwork.WithCause(io.EOF)
			case "timeout":
				return kerrors.ErrRPCTimeout.WithCause(errors.New("stub"))
			case "connection":
				if connections.Add(1)%2 == 1 { // Kitex picks again
					return kerrors.ErrGetConnection.WithCause(errors.New("stub"))
				}
			case "panic":
				panic("stub")
			case "slow":
				timer := time.NewTimer(3 * time.Millisecond)
				defer timer.Stop()
				<-timer.C
			}
			return nil
		}
	}
}

// reject stands between the pick and the suite, as a circuit breaker does.
func reject(next endpoint.Endpoint) endpoint.Endpoint {
	return func(ctx context.Context, request, response any) error {
		if message(request) == "breaker" {
			return kerrors.ErrServiceCircuitBreak
		}
		return next(ctx, request, response)
	}
}

// TestNothingIsInFlightAfterAMillionCalls that end in every way there is.
func TestNothingIsInFlightAfterAMillionCalls(t *testing.T) {
	kinds := []string{"ok", "", "business", "remote", "timeout", "cancelled", "preset"}
	rare := []string{"connection", "panic", "breaker"} // of which Kitex logs each
	for _, policy := range []string{loadbalance.SmoothWRR, loadbalance.LeastActive, loadbalance.P2CEWMA, loadbalance.BoundedHash} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			lb := balancer(t, policy)
			list := fleet(t, "10.0.0.1:1", "10.0.0.2:1", "10.0.0.3:1")
			container := retry.NewRetryContainer()
			defer container.Close()
			cli := newClient(t, client.WithInstanceMW(reject),
				client.WithSuite(middleware.NewClientSuite(list, lb, middleware.WithEjection(middleware.Ejection{MaxShare: 0.3}))),
				client.WithInstanceMW(stub()), client.WithRetryContainer(container),
				client.WithFailureRetry(retry.NewFailurePolicy()))
			cancelled, cancel := context.WithCancel(t.Context())
			cancel()
			var next atomic.Int64
			var callers sync.WaitGroup
			for range 4 {
				callers.Go(func() {
					for i := next.Add(1); i <= mixedCalls; i = next.Add(1) {
						kind := kinds[i%int64(len(kinds))]
						if i%1000 < int64(len(rare)) {
							kind = rare[i%1000]
						}
						mixedCall(t.Context(), cancelled, cli, kind)
					}
				})
			}
			callers.Wait()
			waitFor(t, "nothing is in flight", func() bool { return stateOf(lb, busy) == 0 })
		})
	}
}

func busy(i loadbalance.InstanceState) bool { return i.InFlight != 0 }

func mixedCall(ctx, cancelled context.Context, cli echoservice.Client, kind string) {
	defer func() { _ = recover() }()
	request := &echo.Request{Message: kind}
	switch kind {
	case "":
		_ = cli.Notify(ctx, request)
	case "cancelled":
		_, _ = cli.Echo(cancelled, request)
	case "preset":
		_, _ = cli.Echo(ctx, request, callopt.WithHostPort("10.0.0.9:1"))
	default:
		_, _ = cli.Echo(ctx, request)
	}
}

// TestNothingIsInFlightAfterBackupRequests, of which the loser goes on.
func TestNothingIsInFlightAfterBackupRequests(t *testing.T) {
	lb := balancer(t, loadbalance.LeastActive)
	container := retry.NewRetryContainer()
	defer container.Close()
	cli := newClient(t, client.WithSuite(middleware.NewClientSuite(fleet(t, "10.0.0.1:1", "10.0.0.2:1"), lb)),
		client.WithInstanceMW(stub()), client.WithRetryContainer(container), client.WithBackupRequest(retry.NewBackupPolicy(1)))
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for range 100 {
				_, _ = cli.Echo(t.Context(), &echo.Request{Message: "slow"})
			}
		})
	}
	callers.Wait()
	waitFor(t, "nothing is in flight", func() bool { return stateOf(lb, busy) == 0 })
}
