// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"testing"
	"time"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
)

// TestGroupsCountWhoComesAndGoes: an instance enters and leaves a subset while it
// has calls, and what the subset's policy has counted fits its instances again.
func TestGroupsCountWhoComesAndGoes(t *testing.T) {
	for _, policy := range []string{BoundedHash, LeastActive, ShortestResponse} {
		t.Run(policy, func(t *testing.T) {
			b := mustNew(t, policy, WithTagFilter(TagFilter{Key: "version", Of: wishOf}))
			list := func(version string) kdiscovery.Result {
				return taggedResult(tagged{weight: 1, version: version}, tagged{weight: 1, version: "v1"}, tagged{weight: 1})
			}
			change := func(version string) { b.Rebalance(kdiscovery.Change{Result: list(version)}) }
			ctx := withKey(wish(t.Context(), "v1"), "k")
			var held []interface{ Recycle() }
			hold := func() {
				p := b.GetPicker(list("v1"))
				if p.Next(ctx, nil) == nil {
					t.Fatal("nobody")
				}
				held = append(held, p.(interface{ Recycle() }))
			}
			for range 6 {
				hold()
			}
			for _, version := range []string{"v2", "v1", "v2"} {
				change(version) // out, in and out again, with calls that end in between
				held[0].Recycle()
				held = held[1:]
			}
			change("v1")
			for _, p := range held {
				p.Recycle()
			}
			change("v2")
			for name, p := range b.core.find("r").places {
				if e, ok := p.engine.(*boundedHash); ok && e.total.Load() != 0 {
					t.Errorf("group %q counts %d calls, and there are none", name, e.total.Load())
				}
			}
			for _, i := range b.State()[0].Instances {
				if i.InFlight != 0 {
					t.Errorf("%s has %d calls", i.Address, i.InFlight)
				}
			}
		})
	}
}

// TestGroupsForgetWhoHasLeft: a list whose instances all change, again and again,
// leaves nothing behind.
func TestGroupsForgetWhoHasLeft(t *testing.T) {
	b := mustNew(t, LeastActive, WithZone("zone", "a"))
	for round := range 50 {
		res := kdiscovery.Result{Cacheable: true, CacheKey: "r"}
		for i := range 10 {
			tags := map[string]string{"zone": string(rune('a' + i%2))}
			res.Instances = append(res.Instances, kdiscovery.NewInstance("tcp", "i"+string(rune('A'+round))+string(rune('a'+i))+":1", 1, tags))
		}
		b.Rebalance(kdiscovery.Change{Result: res})
		_ = call(t.Context(), b, res)
	}
	for name, p := range b.core.find("r").places {
		n := 0
		p.engine.(*leastActive).leaves.Range(func(any, any) bool { n++; return true })
		if n > 20 {
			t.Errorf("group %q remembers %d instances, and has five", name, n)
		}
	}
}

// TestGroupsCountWhoIsPickedAroundSomebody: the policy picks somebody who has just
// been set aside, and another gets the call; or all are aside, and one is drawn.
func TestGroupsCountWhoIsPickedAroundSomebody(t *testing.T) {
	for _, all := range []bool{false, true} {
		b := mustNew(t, BoundedHash, WithTagFilter(TagFilter{Key: "version", Of: wishOf}))
		res := taggedResult(tagged{weight: 1, version: "v1"}, tagged{weight: 1, version: "v1"})
		ctx := withKey(wish(t.Context(), "v1"), "k")
		first := call(ctx, b, res)
		s := b.core.find("r")
		for address, n := range s.nodes { // no table shows it yet
			if all || address == first {
				n.aside.Store(asideAfter(1, time.Now()))
			}
		}
		s.someAside.Store(true)
		p := b.GetPicker(res)
		got := p.Next(ctx, nil)
		if got == nil || !all && got.Address().String() == first {
			t.Fatalf("picked %v, %s is aside", got, first)
		}
		totals := func() (sum int64) {
			for _, at := range s.places {
				sum += at.engine.(*boundedHash).total.Load()
			}
			return sum
		}
		if n := totals(); n != 2 { // the subset and the whole
			t.Errorf("all aside: %v: the groups count %d calls of one in two groups", all, n)
		}
		recycle(p)
		if n := totals(); n != 0 {
			t.Errorf("all aside: %v: the groups count %d calls after it has ended", all, n)
		}
	}
}
