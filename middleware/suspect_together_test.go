// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware_test

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/endpoint"
	"github.com/cloudwego/kitex/pkg/kerrors"

	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/loadbalance"
	"github.com/fairway-rpc/fairway/middleware"
)

// TestOneBrokenConnectionIsNotTwoFailuresInARow: calls share a connection, and
// all of them fail when it breaks.
func TestOneBrokenConnectionIsNotTwoFailuresInARow(t *testing.T) {
	for n := range 10 { // since what should not be, a drop in the first round, may take its time
		t.Run(fmt.Sprint(n), breakOnce)
	}
}

func breakOnce(t *testing.T) {
	const calls = 8
	var underWay sync.WaitGroup // all of a round, before the first of them ends
	broken := func(endpoint.Endpoint) endpoint.Endpoint {
		return func(context.Context, any, any) error {
			underWay.Done()
			underWay.Wait()
			return kerrors.ErrRemoteOrNetwork.WithCause(io.EOF)
		}
	}
	var rounds atomic.Int64
	drops := make(chan int64, 1)
	res := suspects(t, "127.0.0.1:1", func() { drops <- rounds.Load() })
	cli := newClient(t, client.WithSuite(middleware.NewClientSuite(res, balancer(t, loadbalance.SmoothWRR))), client.WithInstanceMW(broken))
	for _, n := range []int{calls, 1} {
		rounds.Add(1)
		underWay.Add(n)
		var all sync.WaitGroup
		for range n {
			all.Go(func() { _, _ = cli.Echo(t.Context(), &echo.Request{}) })
		}
		all.Wait()
	}
	if round := <-drops; round != 2 {
		t.Errorf("dropped in round %d, want 2, by the call that began after the first failure", round)
	}
}
