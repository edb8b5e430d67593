// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"
	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	"github.com/cloudwego/kitex/pkg/kerrors"
	"github.com/cloudwego/kitex/pkg/loadbalance/lbcache"
	"github.com/cloudwego/kitex/pkg/rpcinfo"

	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/loadbalance"
)

// foreign is a resolver such as others write: it has a list, and Kitex asks for
// that again and again.
type foreign struct {
	cacheable bool
	list      atomic.Pointer[[]kdiscovery.Instance]
}

func (f *foreign) set(instances ...kdiscovery.Instance) { f.list.Store(&instances) }

// Resolve returns a list of its own each time, as after a look-up.
func (f *foreign) Resolve(_ context.Context, desc string) (kdiscovery.Result, error) {
	res := kdiscovery.Result{Cacheable: f.cacheable, Instances: slices.Clone(*f.list.Load())}
	if f.cacheable {
		res.CacheKey = desc
	}
	return res, nil
}

func (f *foreign) Target(_ context.Context, target rpcinfo.EndpointInfo) string {
	return target.ServiceName()
}

func (f *foreign) Diff(key string, prev, next kdiscovery.Result) (kdiscovery.Change, bool) {
	return kdiscovery.DefaultDiff(key, prev, next)
}

func (f *foreign) Name() string { return "foreign" }

// oftenRefreshed has Kitex resolve every 50 ms in place of every five seconds.
func oftenRefreshed(lb *loadbalance.Balancer) client.Option {
	return client.WithLoadBalancer(lb, &lbcache.Options{RefreshInterval: 50 * time.Millisecond})
}

// TestForeignResolver: weights count, and changes are followed from one Resolve
// to the next without a call that fails. Where the result must not be cached,
// Kitex keeps it from one Resolve to the next all the same, but tells nobody of
// changes: each list is one of its own.
func TestForeignResolver(t *testing.T) {
	t.Parallel()
	servers := startServers(t, 3)
	for _, policy := range loadbalance.Policies() {
		for _, cacheable := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/cacheable=%v", policy, cacheable), func(t *testing.T) {
				t.Parallel()
				testForeign(t, policy, &foreign{cacheable: cacheable}, servers)
			})
		}
	}
}

func testForeign(t *testing.T, policy string, f *foreign, servers []string) {
	light, heavy, third := servers[0], servers[1], servers[2]
	f.set(append(instancesOf(10, light), instancesOf(30, heavy)...)...)
	lb := newBalancer(t, policy)
	cli := newClient(t, lb, client.WithResolver(f), oftenRefreshed(lb))
	checkHeavy(t, policy, answers(t, cli, 300)[heavy], 300)

	now := func(what, want string, instances ...kdiscovery.Instance) {
		t.Helper()
		f.set(instances...)
		waitUntil(t, what, func() bool { return ask(t, cli, "key") == want })
		if counts := answers(t, cli, 20); counts[want] != 20 {
			t.Errorf("%s: calls went to %v, want only %s", what, counts, want)
		}
	}
	now("another list", third, instancesOf(10, third)...)
	now("weight 0", light, append(instancesOf(0, third, heavy), instancesOf(1, light)...)...)
	now("one more, and the other of weight 0", heavy, append(instancesOf(0, light), instancesOf(7, heavy)...)...)

	f.set()
	waitUntil(t, "nobody is left", func() bool {
		_, err := cli.Echo(t.Context(), &echo.Request{Message: "key"})
		if err != nil && !errors.Is(err, kerrors.ErrNoMoreInstance) {
			t.Fatal(err)
		}
		return err != nil
	})
	f.set(instancesOf(1, third)...)
	waitUntil(t, "somebody is back", func() bool {
		_, err := cli.Echo(t.Context(), &echo.Request{Message: "key"})
		return err == nil
	})
	waitIdle(t, lb)
}

// checkHeavy checks the part of the instance that has 30 of 40 of the weight,
// within five standard deviations.
func checkHeavy(t *testing.T, policy string, got, all int) {
	t.Helper()
	low, high := 0.6, 0.9
	if unweighing[policy] {
		low, high = 0.35, 0.65
	}
	if part := float64(got) / float64(all); part < low || part > high {
		t.Errorf("the instance with 3/4 of the weight got %d of %d calls, want %v to %v of them", got, all, low, high)
	}
}
