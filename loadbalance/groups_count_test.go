// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"

	"github.com/fairway-rpc/fairway/internal/pick"
)

// heldCalls are calls under way.
type heldCalls struct {
	b    *Balancer
	open []interface{ Recycle() }
}

// begin makes a call and leaves it open. It is "" if nobody was picked.
func (h *heldCalls) begin(ctx context.Context, res kdiscovery.Result) string {
	p := h.b.GetPicker(res)
	h.open = append(h.open, p.(interface{ Recycle() }))
	if instance := p.Next(ctx, nil); instance != nil {
		return instance.Address().String()
	}
	return ""
}

// end ends one of the calls.
func (h *heldCalls) end(i int) {
	h.open[i].Recycle()
	h.open[i] = h.open[len(h.open)-1]
	h.open = h.open[:len(h.open)-1]
}

func (h *heldCalls) endAll() {
	for len(h.open) > 0 {
		h.end(0)
	}
}

// versioned is instances of weight 1 with their versions.
func versioned(versions ...string) kdiscovery.Result {
	all := make([]tagged, len(versions))
	for i, v := range versions {
		all[i] = tagged{weight: 1, version: v}
	}
	return taggedResult(all...)
}

// TestBoundHoldsWhenInstancesChangeGroups: what a group knows of calls that began
// before its instances came, or end after they have left, must not move its bound.
func TestBoundHoldsWhenInstancesChangeGroups(t *testing.T) {
	for name, between := range map[string]func(h *heldCalls, show func(versions ...string)){
		"they come with calls": func(h *heldCalls, show func(...string)) {
			for range 20 {
				h.begin(withKey(context.Background(), "k"), versioned("v1", "v1", "v1"))
			}
			show("v2", "v2", "v2")
			h.endAll()
		},
		"they leave with calls": func(h *heldCalls, show func(...string)) {
			show("v2", "v2", "v2", "v2")
			for range 20 {
				h.begin(wish(withKey(context.Background(), "k"), "v2"), versioned("v2", "v2", "v2", "v2"))
			}
			show("v1", "v1", "v1", "v2")
			h.endAll()
			show("v2", "v2", "v2")
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := mustNew(t, BoundedHash, WithTagFilter(TagFilter{Key: "version", Of: wishOf}))
			show := func(versions ...string) { b.Rebalance(kdiscovery.Change{Result: versioned(versions...)}) }
			h := &heldCalls{b: b}
			_ = call(withKey(t.Context(), "k"), b, versioned("v1", "v1", "v1"))
			between(h, show)
			counts := map[string]int{}
			for range 30 {
				counts[h.begin(wish(withKey(t.Context(), "k"), "v2"), versioned("v2", "v2", "v2"))]++
			}
			for address, n := range counts {
				if n > 13 { // 1.25 times a third of 30, rounded up
					t.Errorf("%s has %d of 30 calls with one key", address, n)
				}
			}
			h.endAll()
		})
	}
}

// TestGroupsCountExactly: whatever begins, ends, changes groups or is set aside, a
// group's total is that of the calls on its instances.
func TestGroupsCountExactly(t *testing.T) {
	for seed := range uint64(50) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			b := mustNew(t, BoundedHash, WithRand(LockedRand(1)), WithZone("zone", "a"), WithTagFilter(TagFilter{Key: "version", Of: wishOf, Preferred: true}))
			h, res := &heldCalls{b: b}, drawTagged(r)
			for range 200 {
				stepOfCalls(r, h, &res)
				synctest.Wait()
				checkTotals(t, b)
			}
			h.endAll()
			synctest.Wait()
			checkTotals(t, b)
			b.core.find("r").end() // its timers
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func drawTagged(r *rand.Rand) kdiscovery.Result {
	all := make([]tagged, 1+r.IntN(6))
	for i := range all {
		all[i] = tagged{weight: r.IntN(3), version: []string{"", "v1", "v2"}[r.IntN(3)], zone: []string{"a", "b"}[r.IntN(2)]}
	}
	return taggedResult(all...)
}

// stepOfCalls does one thing that may happen.
func stepOfCalls(r *rand.Rand, h *heldCalls, res *kdiscovery.Result) {
	switch k := r.IntN(10); {
	case k < 5:
		ctx := wish(withKey(context.Background(), fmt.Sprint(r.IntN(5))), []string{"", "v1", "v2"}[r.IntN(3)])
		h.begin(ctx, *res)
	case k < 8:
		if len(h.open) > 0 {
			h.end(r.IntN(len(h.open)))
		}
	case k < 9:
		*res = drawTagged(r)
		h.b.Rebalance(kdiscovery.Change{Result: *res})
	default:
		if s := h.b.core.find("r"); s != nil {
			list := s.table.Load().list
			list[r.IntN(len(list))].node.failed(pick.NoConnection, false)
		}
	}
}

// checkTotals compares each group's total with the calls on its instances.
func checkTotals(t *testing.T, b *Balancer) {
	t.Helper()
	s := b.core.find("r")
	if s == nil {
		return
	}
	for name, g := range s.table.Load().division.groups {
		sum := int64(0)
		for _, c := range g.list {
			sum += c.node.inFlight.Load()
		}
		if total := s.places[name].engine.(*boundedHash).total.Load(); total != sum {
			t.Fatalf("group %q counts %d calls, its instances have %d", name, total, sum)
		}
	}
}

// TestGroupsCountExactlyWhileListsChange from one moment to the next.
func TestGroupsCountExactlyWhileListsChange(t *testing.T) {
	b := mustNew(t, BoundedHash, WithTagFilter(TagFilter{Key: "version", Of: wishOf}))
	lists := []kdiscovery.Result{versioned("v1", "v1", "v2"), versioned("v2", "v1", "v1"), versioned("v1", "v2")}
	_ = call(withKey(t.Context(), "k"), b, lists[0])
	var callers sync.WaitGroup
	for k := range 4 {
		callers.Go(func() {
			ctx := wish(withKey(context.Background(), fmt.Sprint(k)), []string{"", "v1", "v2"}[k%3])
			for range 2000 {
				_ = call(ctx, b, lists[0])
			}
		})
	}
	for i := range 300 {
		b.Rebalance(kdiscovery.Change{Result: lists[i%len(lists)]})
	}
	callers.Wait()
	checkTotals(t, b)
}

// TestGroupsForgetInstances that have left: a list whose addresses all change each
// time must not leave anything behind in a group that stays.
func TestGroupsForgetInstances(t *testing.T) {
	for _, policy := range []string{BoundedHash, LeastActive, ShortestResponse} {
		t.Run(policy, func(t *testing.T) {
			b := mustNew(t, policy, WithTagFilter(TagFilter{Key: "version", Of: wishOf}))
			for i := range 50 {
				res := kdiscovery.Result{Cacheable: true, CacheKey: "r"}
				for k := range 4 {
					address := fmt.Sprintf("i%d:%d", i, k+1)
					res.Instances = append(res.Instances, kdiscovery.NewInstance("tcp", address, 1, nil))
				}
				b.Rebalance(kdiscovery.Change{Result: res})
				_ = call(withKey(t.Context(), "k"), b, res)
			}
			for name, p := range b.core.find("r").places {
				if n := kept(p.engine); n != 4 {
					t.Errorf("group %q of 4 instances keeps %d", name, n)
				}
			}
		})
	}
}

// kept is the number of nodes that a group's engine knows.
func kept(e engine) (n int) {
	var nodes *sync.Map
	switch e := e.(type) {
	case *leastActive:
		nodes = &e.leaves.all
	case *shortestResponse:
		nodes = &e.leaves.all
	case *boundedHash:
		nodes = &e.seats.all
	}
	nodes.Range(func(any, any) bool {
		n++
		return true
	})
	return n
}

// TestSlowInstanceIsSlowInItsNewGroup: what is known of it comes with it.
func TestSlowInstanceIsSlowInItsNewGroup(t *testing.T) {
	b := observed(t, ShortestResponse, WithTagFilter(TagFilter{Key: "version", Of: wishOf}), WithRand(LockedRand(1)))
	res := versioned("v1", "v1")
	_ = call(t.Context(), b, res)
	s := b.core.find("r")
	now := s.core.config.now()
	for range 50 {
		s.took(s.nodes["i0:80"], now, 1e9, false)
		s.took(s.nodes["i1:80"], now, 1e6, false)
	}
	res = versioned("v2", "v2")
	b.Rebalance(kdiscovery.Change{Result: res})
	counts := map[string]int{}
	for range 20 {
		counts[call(wish(t.Context(), "v2"), b, res)]++
	}
	if counts["i0:80"] > 0 {
		t.Errorf("%v: i0 takes a thousand times as long as i1", counts)
	}
}
