// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"

	"github.com/fairway-rpc/fairway/internal/live"
)

// TestListIsTakenAnewAfterAnIdleTime: Kitex forgets an idle service, and its
// next Resolve comes without a Rebalance.
func TestListIsTakenAnewAfterAnIdleTime(t *testing.T) {
	for _, policy := range Policies() {
		t.Run(policy, func(t *testing.T) {
			b := mustNew(t, policy)
			ctx := withKey(t.Context(), "k")
			_ = call(ctx, b, result("r", 1))
			b.Delete(kdiscovery.Change{Result: kdiscovery.Result{Cacheable: true, CacheKey: "r"}})
			if got := call(ctx, b, result("r", 0, 1)); got != "i1:80" {
				t.Errorf("picked %q from the list before the idle time, want i1:80", got)
			}
		})
	}
}

func TestPickerOfAnUncacheableResultKeepsToItsList(t *testing.T) {
	for _, policy := range Policies() {
		t.Run(policy, func(t *testing.T) {
			b := mustNew(t, policy)
			ctx := withKey(t.Context(), "k")
			only := func(address string) kdiscovery.Result { // without a key, as Kitex allows
				return kdiscovery.Result{Instances: []kdiscovery.Instance{kdiscovery.NewInstance("tcp", address, 1, nil)}}
			}
			first := b.GetPicker(only("a:1"))
			second := b.GetPicker(only("b:1"))
			if got := first.Next(ctx, nil).Address().String(); got != "a:1" {
				t.Errorf("a call to one service went to %s of another", got)
			}
			if got := second.Next(ctx, nil).Address().String(); got != "b:1" {
				t.Errorf("picked %s, want b:1", got)
			}
			recycle(first)
			recycle(second)
		})
	}
}

// TestRetriesWithoutTheSuiteTryEveryInstanceOnce follows one attempt of Kitex's
// through six picks.
func TestRetriesWithoutTheSuiteTryEveryInstanceOnce(t *testing.T) {
	for _, policy := range Policies() {
		t.Run(policy, func(t *testing.T) {
			b := mustNew(t, policy)
			res := result("r", 100, 1, 1, 1, 1)
			ctx := attempt(withKey(t.Context(), "k"), nil, nil)
			tried := map[string]bool{}
			for n := range 5 {
				p := b.GetPicker(res)
				instance := p.Next(ctx, nil)
				recycle(p)
				if address := instance.Address().String(); tried[address] {
					t.Fatalf("pick %d went to %s again, with others untried", n+1, address)
				}
				tried[instance.Address().String()] = true
				setFailed(ctx, instance)
			}
			if got := call(ctx, b, res); got == "" {
				t.Error("with all tried nobody was picked")
			}
		})
	}
}

func TestViewThatHasNothingYet(t *testing.T) {
	key := live.Key("resolver", t.Name())
	view := &live.View{}
	live.Enter(key, view)
	defer live.Leave(key, view)
	b := mustNew(t, SmoothWRR)
	if got := call(t.Context(), b, result(key, 1)); got != "i0:80" {
		t.Errorf("picked %q, want what Kitex has got", got)
	}
	view.Publish(liveSet(1, 0, 1))
	waitFor(t, "the view counts", func() bool { return call(t.Context(), b, result(key, 1)) == "i1:80" })
}

func TestViewThatEndsWhileItIsFound(t *testing.T) {
	for i := range 300 {
		key := live.Key("resolver", fmt.Sprint(t.Name(), i))
		view := &live.View{}
		view.Publish(liveSet(1, 1))
		live.Enter(key, view)
		b := mustNew(t, SmoothWRR)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			live.Leave(key, view)
			view.Close()
		}()
		if got := call(t.Context(), b, result(key, 1)); got != "i0:80" {
			t.Fatalf("picked %q", got)
		}
		<-ended
		// Kitex has long forgotten a service when a feed ends.
		b.Delete(kdiscovery.Change{Result: kdiscovery.Result{Cacheable: true, CacheKey: key}})
		next := &live.View{}
		next.Publish(liveSet(2, 0, 1))
		live.Enter(key, next)
		waitFor(t, "the next view under the key counts", func() bool { return call(t.Context(), b, result(key, 1)) == "i1:80" })
		live.Leave(key, next)
		next.Close()
	}
}

// TestIdleServiceIsForgottenButNotWhileBusy: a minute after Kitex's Delete.
func TestIdleServiceIsForgottenButNotWhileBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := live.Key("resolver", t.Name())
		view := &live.View{}
		view.Publish(liveSet(1, 1))
		live.Enter(key, view)
		defer live.Leave(key, view)
		b := mustNew(t, LeastActive)
		for _, key := range []string{key, "plain"} {
			res := result(key, 1)
			p := b.GetPicker(res)
			_ = p.Next(t.Context(), nil)
			b.Delete(kdiscovery.Change{Result: kdiscovery.Result{Cacheable: true, CacheKey: key}})
			time.Sleep(idleFor + time.Second) // in the bubble's time
			if b.core.find(key) == nil {
				t.Errorf("%s: forgotten with a call in flight", key)
			}
			recycle(p)
			time.Sleep(idleFor + time.Second)
			if b.core.find(key) != nil {
				t.Errorf("%s: still kept", key)
			}
			if got := call(t.Context(), b, res); got != "i0:80" {
				t.Errorf("%s: afterwards picked %q", key, got)
			}
		}
	})
}

// TestTiesOnARetryAreByWeight: who stood aside must not tell who is next.
func TestTiesOnARetryAreByWeight(t *testing.T) {
	b := mustNew(t, LeastActive, WithRand(LockedRand(5)))
	res := result("r", 1, 1, 1, 1)
	counts := map[string]int{}
	for range 9000 {
		counts[call(attempt(t.Context(), res.Instances[1], nil), b, res)]++
	}
	for _, address := range []string{"i0:80", "i2:80", "i3:80"} {
		if n := counts[address]; n < 2700 || n > 3300 {
			t.Errorf("%s got %d of 9000 retries, want about 3000; all: %v", address, n, counts)
		}
	}
}

// TestTagsOfInstancesDoNotPassForKitexs: they come from the registry.
func TestTagsOfInstancesDoNotPassForKitexs(t *testing.T) {
	b := mustNew(t, SmoothWRR)
	res := kdiscovery.Result{Cacheable: true, CacheKey: "r", Instances: []kdiscovery.Instance{
		kdiscovery.NewInstance("tcp", "i0:80", 1, map[string]string{"prev_inst": "i1:80"}),
		kdiscovery.NewInstance("tcp", "i1:80", 1, nil), kdiscovery.NewInstance("tcp", "i2:80", 1, nil),
	}}
	seen := map[string]bool{}
	for range 20 {
		seen[call(attempt(t.Context(), res.Instances[0], nil), b, res)] = true
	}
	if !seen["i1:80"] {
		t.Error("a tag of an instance has excluded another")
	}
}
