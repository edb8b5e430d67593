// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/endpoint"
	"github.com/cloudwego/kitex/pkg/kerrors"

	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/loadbalance"
	"github.com/fairway-rpc/fairway/middleware"
)

// TestCallsThatAreRejectedBelowThePickAreCountedOnce: a limit or a breaker stands
// between the pick and the suite's instance middleware, and the application's
// own middleware above the pick panics at the error or tries again.
func TestCallsThatAreRejectedBelowThePickAreCountedOnce(t *testing.T) {
	for name, above := range map[string]endpoint.Middleware{
		"returned": func(next endpoint.Endpoint) endpoint.Endpoint { return next },
		"panic": func(next endpoint.Endpoint) endpoint.Endpoint {
			return func(ctx context.Context, request, response any) error {
				if err := next(ctx, request, response); err != nil {
					panic(err)
				}
				return nil
			}
		},
		"tried again": func(next endpoint.Endpoint) endpoint.Endpoint {
			return func(ctx context.Context, request, response any) error {
				if next(ctx, request, response) == nil {
					return nil
				}
				return next(ctx, request, response)
			}
		},
	} {
		for reason, rejection := range map[string]error{"limit": kerrors.ErrQPSOverLimit, "breaker": kerrors.ErrInstanceCircuitBreak} {
			for _, policy := range loadbalance.Policies() {
				t.Run(name+"/"+reason+"/"+policy, func(t *testing.T) { rejectOnce(t, policy, rejection, above) })
			}
		}
	}
}

// rejectOnce has one call under way meanwhile, so that a count too few shows.
func rejectOnce(t *testing.T, policy string, rejection error, above endpoint.Middleware) {
	t.Helper()
	rejects, entered, leave := 0, make(chan struct{}), make(chan struct{})
	reject := func(next endpoint.Endpoint) endpoint.Endpoint {
		return func(ctx context.Context, request, response any) error {
			if rejects--; rejects >= 0 {
				return rejection
			}
			return next(ctx, request, response)
		}
	}
	wait := func(endpoint.Endpoint) endpoint.Endpoint {
		return func(context.Context, any, any) error {
			entered <- struct{}{}
			<-leave
			return nil
		}
	}
	lb := balancer(t, policy)
	cli := newClient(t, client.WithInstanceMW(reject), client.WithSuite(middleware.NewClientSuite(hosts("127.0.0.1:1"), lb)),
		client.WithInstanceMW(wait), client.WithMiddleware(above))
	inFlight := func() int64 { return lb.State()[0].Instances[0].InFlight }
	var all sync.WaitGroup
	all.Go(func() { _, _ = cli.Echo(t.Context(), &echo.Request{}) })
	<-entered
	if got := inFlight(); got != 1 {
		t.Errorf("%d calls in flight, want 1", got)
	}
	rejects = 1
	if errors.Is(rejection, kerrors.ErrCircuitBreak) {
		rejects = 6 // Kitex picks again as often
	}
	ended := make(chan struct{})
	all.Go(func() {
		defer close(ended)
		defer func() { _ = recover() }()
		_, _ = cli.Echo(t.Context(), &echo.Request{})
	})
	want := int64(1)
	select {
	case <-entered: // it was tried again
		want = 2
	case <-ended:
	}
	if got := inFlight(); got != want {
		t.Errorf("%d calls in flight, want %d", got, want)
	}
	close(leave)
	all.Wait()
	if got := inFlight(); got != 0 {
		t.Errorf("%d calls in flight after all have ended", got)
	}
}
