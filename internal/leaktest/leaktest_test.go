// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package leaktest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/endpoint"
	"github.com/cloudwego/kitex/pkg/kerrors"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { Main(m) }

// What a test with a Kitex client and server leaves behind is exactly what is
// listed: no more, or a clean package would fail, and no less, or the list has
// gone stale.
func TestListIsExact(t *testing.T) {
	addr, stop := newServer(t)
	call(t, addr)
	stop() // ends the connections, for Kitex's gRPC client keeps its own
	if err := goleak.Find(Options()...); err != nil {
		t.Errorf("a goroutine of Kitex is not in the list: %v", err)
	}
	for i, e := range kitex {
		t.Run(e.function, func(t *testing.T) {
			others := slices.Delete(Options(), i, i+1)
			err := goleak.Find(others...)
			if err == nil || !strings.Contains(err.Error(), e.function) {
				t.Errorf("nothing needs this entry; goleak found: %v", err)
			}
		})
	}
}

func TestOwnGoroutineIsReported(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	go leakedByThisTest(release)
	err := goleak.Find(Options()...)
	if err == nil || !strings.Contains(err.Error(), "leakedByThisTest") {
		t.Errorf("goleak.Find = %v, want the goroutine that waits", err)
	}
}

func leakedByThisTest(release <-chan struct{}) { <-release }

// A worker of Kitex that hangs in our code is our leak.
func TestStuckWorkerIsReported(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	stuck := func(endpoint.Endpoint) endpoint.Endpoint {
		return func(context.Context, any, any) error { return stuckInMiddleware(release) }
	}
	addr, _ := newServer(t)
	cli := newClient(t, addr, client.WithRPCTimeout(20*time.Millisecond), client.WithMiddleware(stuck))
	if _, err := cli.GenericCall(t.Context(), "Echo", emptyStruct); !errors.Is(err, kerrors.ErrRPCTimeout) {
		t.Fatalf("call = %v, want a timeout", err)
	}
	err := goleak.Find(Options()...)
	if err == nil || !strings.Contains(err.Error(), "stuckInMiddleware") {
		t.Errorf("goleak.Find = %v, want the worker that hangs", err)
	}
}

func stuckInMiddleware(release <-chan struct{}) error {
	<-release
	return nil
}

func TestCheckPasses(t *testing.T) { Check(t) }
