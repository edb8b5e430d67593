// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"

	"github.com/fairway-rpc/fairway/internal/live"
)

func TestUnknownPolicyListsTheKnown(t *testing.T) {
	for _, name := range []string{"", "wrr", "Smooth-WRR"} {
		b, err := New(name)
		if b != nil || !errors.Is(err, ErrUnknownPolicy) || !errors.Is(err, ErrInvalidConfig) {
			t.Fatalf("%q: got %v, %v", name, b, err)
		}
		for _, known := range Policies() {
			if !strings.Contains(err.Error(), known) {
				t.Errorf("the error does not list %s: %v", known, err)
			}
		}
	}
}

func TestBadOptionsAreRefused(t *testing.T) {
	for name, opts := range map[string][]Option{
		"no key function": nil,
		"nil key":         {WithKey(nil)},
		"nil hash":        {WithHash(nil)},
		"nil source":      {WithKey(keyOf), WithRand(nil)},
		"no nodes":        {WithKey(keyOf), WithVirtualNodes(0)},
		"too many nodes":  {WithKey(keyOf), WithVirtualNodes(1 << 20)},
		"no room":         {WithKey(keyOf), WithLoadFactor(1)},
		"not a number":    {WithKey(keyOf), WithLoadFactor(math.NaN())},
	} {
		if _, err := New(ConsistentHash, opts...); !errors.Is(err, ErrInvalidConfig) {
			t.Errorf("%s: got %v, want ErrInvalidConfig", name, err)
		}
	}
}

// TestEveryPolicy holds what is promised of all of them.
func TestEveryPolicy(t *testing.T) {
	for _, policy := range Policies() {
		t.Run(policy, func(t *testing.T) {
			t.Run("nobody", func(t *testing.T) {
				b := mustNew(t, policy)
				for _, res := range []kdiscovery.Result{result("empty"), result("drained", 0, 0), result("negative", -1, -5)} {
					if got := call(withKey(t.Context(), "k"), b, res); got != "" {
						t.Errorf("%s: picked %s", res.CacheKey, got)
					}
				}
			})
			t.Run("weight 0 gets nothing", func(t *testing.T) {
				counts := shares(t, mustNew(t, policy), result("r", 3, 0, 2, -7), 2000)
				if counts["i1:80"] > 0 || counts["i3:80"] > 0 || counts["i0:80"] == 0 || counts["i2:80"] == 0 {
					t.Errorf("shares %v", counts)
				}
			})
			t.Run("one instance", func(t *testing.T) {
				if counts := shares(t, mustNew(t, policy), result("r", 1), 100); counts["i0:80"] != 100 {
					t.Errorf("shares %v", counts)
				}
			})
			t.Run("largest weights", func(t *testing.T) {
				counts := shares(t, mustNew(t, policy), result("r", math.MaxInt32, math.MaxInt32, 1), 3000)
				if a, b := counts["i0:80"], counts["i1:80"]; a < 900 || b < 900 {
					t.Errorf("shares %v", counts)
				}
			})
			t.Run("shares fit the weights", func(t *testing.T) {
				counts := shares(t, mustNew(t, policy), result("r", 5, 3, 2), 20000)
				if policy == Random || policy == RoundRobin {
					testShares(t, policy, counts, 1./3, 1./3, 1./3)
				} else {
					testShares(t, policy, counts, 0.5, 0.3, 0.2)
				}
			})
			t.Run("unweighted", func(t *testing.T) {
				counts := shares(t, mustNew(t, policy, Unweighted()), result("r", 5, 3, 2, 0), 20000)
				testShares(t, policy, counts, 1./3, 1./3, 1./3, 0)
			})
			t.Run("a change is followed", func(t *testing.T) {
				b := mustNew(t, policy)
				shares(t, b, result("r", 1, 1), 10)
				next := result("r", 0, 0, 1)
				b.Rebalance(kdiscovery.Change{Result: next})
				if counts := shares(t, b, next, 100); counts["i2:80"] != 100 {
					t.Errorf("shares %v after the change", counts)
				}
			})
			t.Run("a result that must not be cached", func(t *testing.T) {
				b := mustNew(t, policy)
				for n := 1; n <= 3; n++ {
					res := result("r", make([]int, n)...)
					res.Cacheable = false
					res.Instances[n-1] = kdiscovery.NewInstance("tcp", fmt.Sprintf("only%d:80", n), 1, nil)
					if got := call(withKey(t.Context(), "k"), b, res); got != fmt.Sprintf("only%d:80", n) {
						t.Errorf("picked %s from a list with only only%d:80", got, n)
					}
				}
			})
			t.Run("retries go elsewhere", func(t *testing.T) { testRetries(t, policy) })
			t.Run("instances of odd kinds", func(t *testing.T) {
				res := result("r", 1)
				res.Instances = append(res.Instances, nil, res.Instances[0])
				if counts := shares(t, mustNew(t, policy), res, 10); counts["i0:80"] != 10 {
					t.Errorf("shares %v", counts)
				}
			})
		})
	}
}

func testShares(t *testing.T, policy string, counts map[string]int, wants ...float64) {
	t.Helper()
	tolerance := 0.02
	if p, _ := findPolicy(policy); p.hashes { // by the points on the ring, not by chance
		tolerance = 0.08
	}
	all := 0
	for _, n := range counts {
		all += n
	}
	for i, want := range wants {
		address := fmt.Sprintf("i%d:80", i)
		if got := float64(counts[address]) / float64(all); math.Abs(got-want) > tolerance || want == 0 && got > 0 {
			t.Errorf("%s gets %.3f, want %.2f", address, got, want)
		}
	}
}

func testRetries(t *testing.T, policy string) {
	b := mustNew(t, policy)
	res := result("r", 100, 1, 1)
	for i := range 300 {
		ctx := withKey(t.Context(), fmt.Sprint(i))
		if got := call(attempt(ctx, res.Instances[0], nil), b, res); got == "i0:80" || got == "" {
			t.Fatalf("a connection retry went to %q, which had just failed", got)
		}
		prev := map[string]string{"retry": "1", "prev_inst": "i0:80"}
		if got := call(attempt(ctx, res.Instances[1], prev), b, res); got != "i2:80" {
			t.Fatalf("with two failed a retry went to %q, want i2:80", got)
		}
	}
	only := result("only", 1)
	if got := call(attempt(withKey(t.Context(), "k"), only.Instances[0], nil), b, only); got != "i0:80" {
		t.Errorf("with nobody else left the retry went to %q, want i0:80", got)
	}
}

func TestSmoothWRRIsNginxOrder(t *testing.T) {
	b := mustNew(t, SmoothWRR)
	var order strings.Builder
	for range 14 {
		order.WriteString(map[string]string{"i0:80": "a", "i1:80": "b", "i2:80": "c"}[call(t.Context(), b, result("r", 5, 1, 1))])
	}
	if got := order.String(); got != "aabacaaaabacaa" {
		t.Errorf("order %s, want aabacaa twice", got)
	}
}

func TestConsistentHashWithoutAKeyPicksNobody(t *testing.T) {
	if got := call(t.Context(), mustNew(t, ConsistentHash), result("r", 1, 1)); got != "" {
		t.Errorf("picked %s", got)
	}
}

func TestConsistentHashIsTheSameInEveryBalancerAndOrder(t *testing.T) {
	a, b := mustNew(t, ConsistentHash), mustNew(t, ConsistentHash)
	forward, backward := result("r", 5, 3, 2), result("r", 5, 3, 2)
	backward.Instances[0], backward.Instances[2] = backward.Instances[2], backward.Instances[0]
	for i := range 500 {
		ctx := withKey(t.Context(), fmt.Sprint(i))
		if x, y := call(ctx, a, forward), call(ctx, b, backward); x != y {
			t.Fatalf("key %d goes to %s here and to %s there", i, x, y)
		}
	}
}

func TestLeastActiveCountsUntilRecycle(t *testing.T) {
	b := mustNew(t, LeastActive)
	res := result("r", 1, 1, 1)
	pickers := make([]interface{ Recycle() }, 0, 3)
	seen := map[string]bool{}
	for range 3 {
		p := b.GetPicker(res)
		seen[p.Next(t.Context(), nil).Address().String()] = true
		pickers = append(pickers, p.(interface{ Recycle() }))
	}
	if len(seen) != 3 {
		t.Errorf("three calls in flight went to %v, want one each", seen)
	}
	for _, p := range pickers {
		p.Recycle()
	}
	for address, n := range b.core.find("r").nodes {
		if got := n.active(); got != 0 {
			t.Errorf("%s: %d calls in flight after all have ended", address, got)
		}
	}
}

func TestLeastActiveKeepsItsCountsThroughAChange(t *testing.T) {
	b := mustNew(t, LeastActive)
	res := result("r", 1, 1)
	busy := b.GetPicker(res)
	first := busy.Next(t.Context(), nil).Address().String()
	b.Rebalance(kdiscovery.Change{Result: kdiscovery.Result{Cacheable: true, CacheKey: "r", Instances: result("r", 2, 2).Instances}})
	for range 20 {
		if got := call(t.Context(), b, res); got == first {
			t.Fatalf("%s was picked with a call in flight while another is idle", got)
		}
	}
	recycle(busy)
}

func TestLiveViewIsSeenByTheNextCall(t *testing.T) {
	for _, policy := range Policies() {
		t.Run(policy, func(t *testing.T) {
			key := live.Key("resolver", t.Name())
			view := &live.View{}
			view.Publish(liveSet(1, 1, 0))
			live.Enter(key, view)
			defer live.Leave(key, view)
			b := mustNew(t, policy)
			stale := result(key, 0, 0, 0, 1) // what Kitex still holds counts for nothing
			ctx := withKey(t.Context(), "k")
			if got := call(ctx, b, stale); got != "i0:80" {
				t.Fatalf("picked %s, want i0:80 of the live view", got)
			}
			view.Publish(liveSet(2, 0, 1))
			waitFor(t, "the change is picked", func() bool { return call(ctx, b, stale) == "i1:80" })
			view.Publish(liveSet(3))
			waitFor(t, "nobody is left", func() bool { return call(ctx, b, stale) == "" })
			view.Publish(liveSet(4, 1))
			waitFor(t, "somebody is back", func() bool { return call(ctx, b, stale) == "i0:80" })
			live.Leave(key, view)
			view.Close()
			waitFor(t, "after the view Kitex's result counts", func() bool { return call(ctx, b, stale) == "i3:80" })
		})
	}
}

// TestConcurrentSafe picks from all sides while lists change, clients come and
// go, and views end; afterwards nothing is counted as in flight.
func TestConcurrentSafe(t *testing.T) {
	for _, policy := range Policies() {
		t.Run(policy, func(t *testing.T) {
			key := live.Key("resolver", t.Name())
			view := &live.View{}
			view.Publish(liveSet(1, 1, 2, 3))
			live.Enter(key, view)
			b := mustNew(t, policy)
			var all sync.WaitGroup
			for g := range 8 {
				all.Go(func() {
					ctx := withKey(context.Background(), fmt.Sprint(g))
					for i := range 2000 {
						_ = call(ctx, b, result(key, 1))
						_ = call(ctx, b, result("plain", 1, 1+i%3))
					}
				})
			}
			for i := range 300 {
				weights := []int{1 + i%7, i % 2, 3, i % 5}
				view.Publish(liveSet(int64(i), weights[:1+i%4]...))
				b.Rebalance(kdiscovery.Change{Result: result("plain", 1+i%3, 1)})
				b.Delete(kdiscovery.Change{Result: kdiscovery.Result{Cacheable: true, CacheKey: "plain"}})
			}
			all.Wait()
			for _, s := range []*service{b.core.find(key), b.core.find("plain")} {
				waitFor(t, "nobody is busy", func() bool { return !s.busy() })
			}
			live.Leave(key, view)
			view.Close()
			waitFor(t, "the service ends with its view", func() bool { return b.core.find(key) == nil })
		})
	}
}

func TestBalancersNeverShareANameAndPrintNothingElse(t *testing.T) {
	a, b := mustNew(t, SmoothWRR), mustNew(t, SmoothWRR)
	if a.Name() == b.Name() {
		t.Errorf("two balancers are both called %s", a.Name())
	}
	if got := fmt.Sprintf("%+v", a); got != a.Name() {
		t.Errorf("printed as %s", got)
	}
}

func TestLockedRandRepeatsAndCryptoRandDoesNot(t *testing.T) {
	a, b := LockedRand(7), LockedRand(7)
	for range 10 {
		if a.Uint64() != b.Uint64() {
			t.Fatal("the same seed gave another sequence")
		}
	}
	if x, y := CryptoRand().Uint64(), CryptoRand().Uint64(); x == y {
		t.Error("two numbers of the system's generator are equal")
	}
	one, two := mustNew(t, WeightedRandom, WithRand(LockedRand(1))), mustNew(t, WeightedRandom, WithRand(LockedRand(1)))
	for range 50 {
		if x, y := call(t.Context(), one, result("r", 1, 2, 3)), call(t.Context(), two, result("r", 1, 2, 3)); x != y {
			t.Fatal("the same source gave another pick")
		}
	}
}

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	tick := time.NewTicker(100 * time.Microsecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("not within 10s: %s", what)
		}
	}
}
