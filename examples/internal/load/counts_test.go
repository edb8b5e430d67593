// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	"github.com/cloudwego/kitex/pkg/rpcinfo"
	"github.com/cloudwego/kitex/pkg/rpcinfo/remoteinfo"
	"github.com/google/go-cmp/cmp"

	"github.com/fairway-rpc/fairway/examples/internal/load"
)

// reach is a call whose attempts go to the addresses in turn.
func reach(c *load.Counts, err error, addresses ...string) {
	reachWith(c, func() error { return err }, addresses...)
}

// reachWith has each attempt answered by a function.
func reachWith(c *load.Counts, answer func() error, addresses ...string) {
	c.Do(context.Background(), func(ctx context.Context) error {
		if len(addresses) == 0 {
			return answer()
		}
		var err error
		for _, address := range addresses {
			to := remoteinfo.NewRemoteInfo(&rpcinfo.EndpointBasicInfo{ServiceName: "echo"}, "Echo")
			to.SetInstance(kdiscovery.NewInstance("tcp", address, 1, nil))
			ri := rpcinfo.NewRPCInfo(nil, to, nil, nil, nil)
			attempt := load.Middleware(func(context.Context, any, any) error { return answer() })
			if err = attempt(rpcinfo.NewCtxWithRPCInfo(ctx, ri), nil, nil); err == nil {
				return nil
			}
		}
		return err
	})
}

func TestCallsCountOnceForTheLastInstance(t *testing.T) {
	var c load.Counts
	broken := errors.New("broken")
	reach(&c, nil, "127.0.0.1:1")
	reach(&c, nil, "127.0.0.1:1")
	before := c.Read()
	reach(&c, broken, "127.0.0.1:1", "127.0.0.1:2")
	reach(&c, broken)
	reach(&c, nil, "127.0.0.1:1")
	want := load.Tally{
		Calls: 3, Failed: 2,
		Nowhere: load.Instance{Calls: 1, Failed: 1},
		Instances: map[string]load.Instance{
			"127.0.0.1:1": {Calls: 1},
			"127.0.0.1:2": {Calls: 1, Failed: 1},
		},
		Errors: []string{"broken"},
	}
	if diff := cmp.Diff(want, c.Read().Since(before)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestInFlightIsSeenDuringTheCall(t *testing.T) {
	var c load.Counts
	inFlight := func() int64 { return c.Read().Instances["127.0.0.1:1"].InFlight }
	reachWith(&c, func() error {
		if n := inFlight(); n != 1 {
			t.Errorf("%d calls in flight during a call, want 1", n)
		}
		return nil
	}, "127.0.0.1:1")
	if n := inFlight(); n != 0 {
		t.Errorf("%d calls in flight after the call, want 0", n)
	}
}

func TestErrorsAreBoundedAndDistinct(t *testing.T) {
	var c load.Counts
	for i := range 100 {
		reach(&c, fmt.Errorf("error %d", i/2))
	}
	want := []string{"error 0", "error 1", "error 2", "error 3", "error 4"}
	if diff := cmp.Diff(want, c.Read().Errors); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
