// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	"pgregory.net/rapid"

	"github.com/fairway-rpc/fairway/internal/live"
)

// tagged is an instance for filters: "version" and "zone".
type tagged struct {
	weight        int
	version, zone string
}

func taggedResult(all ...tagged) kdiscovery.Result {
	res := kdiscovery.Result{Cacheable: true, CacheKey: "r"}
	for i, a := range all {
		tags := map[string]string{"version": a.version, "zone": a.zone}
		res.Instances = append(res.Instances, kdiscovery.NewInstance("tcp", fmt.Sprintf("i%d:80", i), a.weight, tags))
	}
	return res
}

type wishKey struct{}

func wishOf(ctx context.Context, _ any) string {
	wish, _ := ctx.Value(wishKey{}).(string)
	return wish
}

func wish(ctx context.Context, value string) context.Context {
	return context.WithValue(ctx, wishKey{}, value)
}

// picked is the instance that a call gets, nil with the reason if there is none.
func picked(ctx context.Context, b *Balancer, res kdiscovery.Result) (kdiscovery.Instance, error) {
	p := b.GetPicker(res)
	defer recycle(p)
	instance := p.Next(ctx, nil)
	if instance != nil {
		return instance, nil
	}
	s := b.core.find(res.CacheKey)
	_, _, err := s.choose(ctx, nil, nil, nil, s.table.Load())
	return nil, err
}

// TestNoPickLeavesItsSubset, whatever the list, by every policy: what is picked
// has the tag that was wanted, and where nobody has, a preferred filter lets the
// call pass and another is an error.
func TestNoPickLeavesItsSubset(t *testing.T) {
	for _, policy := range Policies() {
		t.Run(policy, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				preferred := rapid.Bool().Draw(t, "preferred")
				b, err := New(policy, WithKey(keyOf), WithTagFilter(TagFilter{Key: "zone", Value: "a"}),
					WithTagFilter(TagFilter{Key: "version", Of: wishOf, Preferred: preferred}))
				if err != nil {
					t.Fatal(err)
				}
				for range 2 { // the second list replaces the first
					list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) tagged {
						return tagged{
							weight:  rapid.IntRange(0, 2).Draw(t, "weight"),
							version: rapid.SampledFrom([]string{"", "v1", "v2"}).Draw(t, "version"),
							zone:    rapid.SampledFrom([]string{"a", "b"}).Draw(t, "zone"),
						}
					}), 1, 8).Draw(t, "list")
					checkSubset(t, b, list, preferred)
				}
			})
		})
	}
}

func checkSubset(t *rapid.T, b *Balancer, list []tagged, preferred bool) {
	t.Helper()
	res := taggedResult(list...)
	b.Rebalance(kdiscovery.Change{Result: res})
	count := func(version string) (n int) {
		for _, a := range list {
			if a.weight > 0 && a.zone == "a" && (version == "" || a.version == version) {
				n++
			}
		}
		return n
	}
	for i := range 20 {
		want := []string{"", "v1", "v2", "v3"}[i%4]
		got, err := picked(wish(withKey(context.Background(), fmt.Sprint(i)), want), b, res)
		if want != "" && count(want) == 0 && preferred {
			want = ""
		}
		switch {
		case count(want) == 0:
			if err == nil {
				t.Fatalf("wish %q: picked %v, of %+v", want, got.Address(), list)
			}
		case got == nil:
			t.Fatalf("wish %q: %v, of %+v", want, err, list)
		default:
			zone, _ := got.Tag("zone")
			version, _ := got.Tag("version")
			if zone != "a" || want != "" && version != want || got.Weight() == 0 {
				t.Fatalf("wish %q: picked version %q in zone %q with weight %d", want, version, zone, got.Weight())
			}
		}
	}
}

func TestReasonsOfFilters(t *testing.T) {
	b := mustNew(t, RoundRobin, WithTagFilter(TagFilter{Key: "version", Of: wishOf}))
	res := taggedResult(tagged{weight: 1, version: "v1"}, tagged{weight: 0, version: "v2"})
	for want, reason := range map[string]error{"v1": nil, "": nil, "v2": ErrNoneInSubset, "v3": ErrNoneInSubset} {
		if _, err := picked(wish(t.Context(), want), b, res); !errors.Is(err, reason) {
			t.Errorf("wish %q: %v, want %v", want, err, reason)
		}
	}
}

func TestBadFiltersAreRefused(t *testing.T) {
	filter := func(key, value string) Option { return WithTagFilter(TagFilter{Key: key, Value: value}) }
	for name, opts := range map[string][]Option{
		"no key":          {filter("", "v")},
		"no value":        {filter("k", "")},
		"both":            {WithTagFilter(TagFilter{Key: "k", Value: "v", Of: wishOf})},
		"too many":        {filter("a", "v"), filter("b", "v"), filter("c", "v"), filter("d", "v"), filter("e", "v")},
		"no zone":         {WithZone("zone", "")},
		"no tag":          {WithZone("", "a")},
		"subset":          {WithSubset(0, "")},
		"affinity":        {WithAffinity(nil, time.Minute)},
		"affinity of 0 s": {WithAffinity(keyOf, 0)},
	} {
		if _, err := New(RoundRobin, opts...); !errors.Is(err, ErrInvalidConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSpillOver: within one point of the computed share, by every policy.
func TestSpillOver(t *testing.T) {
	for name, tt := range map[string]struct {
		list []tagged
		want float64
	}{
		"all well":              {[]tagged{{weight: 1, zone: "a"}, {weight: 1, zone: "a"}, {weight: 1, zone: "b"}}, 1},
		"just enough":           {[]tagged{{weight: 7, zone: "a"}, {weight: 3, zone: "a", version: "drained"}, {weight: 1, zone: "b"}}, 1},
		"half":                  {[]tagged{{weight: 35, zone: "a"}, {weight: 65, zone: "a", version: "drained"}, {weight: 1, zone: "b"}}, 0.5},
		"nothing left":          {[]tagged{{weight: 35, zone: "a", version: "drained"}, {weight: 1, zone: "b"}}, 0},
		"nobody there":          {[]tagged{{weight: 1, zone: "b"}}, 0},
		"nobody elsewhere":      {[]tagged{{weight: 1, zone: "a"}, {weight: 9, zone: "a", version: "drained"}}, 1},
		"all drained elsewhere": {[]tagged{{weight: 1, zone: "a"}, {weight: 9, zone: "a", version: "drained"}, {weight: 1, zone: "b", version: "drained"}}, 1},
	} {
		for _, policy := range Policies() {
			t.Run(name+"/"+policy, func(t *testing.T) {
				b := mustNew(t, policy, WithRand(LockedRand(1)), WithZone("zone", "a"))
				set, view := &live.Set{Revision: 1, Source: "etcd"}, &live.View{}
				key := t.Name()
				live.Enter(key, view)
				defer live.Leave(key, view)
				for i, instance := range taggedResult(tt.list...).Instances {
					node := nodesOf([]kdiscovery.Instance{instance})[0]
					node.Serving = tt.list[i].version != "drained"
					set.Nodes = append(set.Nodes, node)
				}
				view.Publish(set)
				const calls = 20_000
				stayed := 0.
				for i := range calls {
					got, err := picked(withKey(t.Context(), fmt.Sprint(i)), b, kdiscovery.Result{Cacheable: true, CacheKey: key})
					if err != nil {
						t.Fatal(err)
					}
					if zone, _ := got.Tag("zone"); zone == "a" {
						stayed++
					}
				}
				if share := stayed / calls; math.Abs(share-tt.want) > 0.01 {
					t.Errorf("%.3f of the calls stayed, want %.3f", share, tt.want)
				}
			})
		}
	}
}

// TestSubsetsAreStable: as many as are wanted, the same ones each time, and none
// that is drained.
func TestSubsetsAreStable(t *testing.T) {
	list := make([]tagged, 100)
	for i := range list {
		list[i].weight = i % 4 // every fourth gets nothing
	}
	seen := map[string]int{}
	for range 2 {
		b := mustNew(t, RoundRobin, WithSubset(10, "me"))
		for range 100 {
			got, err := picked(t.Context(), b, taggedResult(list...))
			if err != nil || got.Weight() == 0 {
				t.Fatalf("picked %v, %v", got, err)
			}
			seen[got.Address().String()]++
		}
	}
	if len(seen) != 10 {
		t.Errorf("%d instances are used, want 10", len(seen))
	}
}

// TestAffinityIsForItsTime, on top of every policy.
func TestAffinityIsForItsTime(t *testing.T) {
	for _, policy := range Policies() {
		t.Run(policy, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := mustNew(t, policy, WithAffinity(wishOf, time.Minute), WithRand(LockedRand(1)))
				res := result("r", 1, 1, 1, 1, 1, 1, 1, 1)
				get := func(session string, hash int) string {
					return call(wish(withKey(t.Context(), fmt.Sprint(hash)), session), b, res)
				}
				first := get("s", 0)
				for i := range 50 {
					if got := get("s", i); got != first {
						t.Fatalf("the session went to %s and then to %s", first, got)
					}
				}
				others := map[string]bool{}
				for i := range 200 {
					others[get(fmt.Sprint("other ", i), i)] = true
					others[get("", i)] = true
				}
				if len(others) < 5 {
					t.Errorf("other sessions use %d of eight instances", len(others))
				}
				b.Rebalance(kdiscovery.Change{Result: result("r", 1, 1, 1, 1, 1, 1, 1, 1)})
				if got := get("s", 1); got != first {
					t.Errorf("after a new list the session went to %s, had %s", got, first)
				}
				time.Sleep(time.Minute)
				later := map[string]bool{}
				for i := range 40 {
					later[get("s", i)] = true
					time.Sleep(time.Minute)
				}
				if len(later) < 2 {
					t.Errorf("the session stays with %v for ever", later)
				}
			})
		})
	}
}

// TestAffinityEndsWithItsInstance: who is drained, or has just failed the call,
// gives the session up for good.
func TestAffinityEndsWithItsInstance(t *testing.T) {
	for _, policy := range Policies() {
		t.Run(policy, func(t *testing.T) {
			b := mustNew(t, policy, WithAffinity(wishOf, time.Hour))
			weights := []int{1, 1, 1, 1}
			res := result("r", weights...)
			ctx := wish(withKey(t.Context(), "k"), "s")
			at := func(address string) (i int) {
				if _, err := fmt.Sscanf(address, "i%d:80", &i); err != nil {
					t.Fatal(err)
				}
				return i
			}
			first := call(ctx, b, res)
			weights[at(first)] = 0
			b.Rebalance(kdiscovery.Change{Result: result("r", weights...)})
			second := call(ctx, b, res)
			if second == first {
				t.Fatal("the session stays with an instance that is drained")
			}
			third := call(attempt(ctx, res.Instances[at(second)], nil), b, res)
			if third == second {
				t.Fatal("a retry went to the instance that has just failed")
			}
			for range 10 {
				if got := call(ctx, b, res); got != third {
					t.Fatalf("after %s the session went to %s", third, got)
				}
			}
		})
	}
}

// TestCallsCountInEveryGroup: who is busy with calls of one subset is busy for the
// others, too, and when all have ended nothing is left.
func TestCallsCountInEveryGroup(t *testing.T) {
	for _, policy := range []string{LeastActive, ShortestResponse} {
		t.Run(policy, func(t *testing.T) {
			b := mustNew(t, policy, WithTagFilter(TagFilter{Key: "version", Of: wishOf}))
			res := taggedResult(tagged{weight: 1, version: "v1"}, tagged{weight: 1, version: "v1"}, tagged{weight: 1})
			v1 := wish(t.Context(), "v1")
			held := []interface{ Recycle() }{}
			hold := func(ctx context.Context) string {
				p := b.GetPicker(res)
				held = append(held, p.(interface{ Recycle() }))
				return p.Next(ctx, nil).Address().String()
			}
			_, _ = hold(v1), hold(v1)
			for range 10 {
				if got := call(t.Context(), b, res); got != "i2:80" {
					t.Fatalf("picked %s, which has a call of the subset; i2 is idle", got)
				}
			}
			if got := hold(t.Context()); got != "i2:80" {
				t.Fatalf("picked %s", got)
			}
			a, c := hold(t.Context()), hold(v1)
			if a != "i2:80" && c == a {
				t.Errorf("the subset picked %s, which has two calls", c)
			}
			for _, p := range held {
				p.Recycle()
			}
			for _, i := range b.State()[0].Instances {
				if i.InFlight != 0 {
					t.Errorf("%s has %d calls", i.Address, i.InFlight)
				}
			}
		})
	}
}

func TestFilteredPickAllocatesNothing(t *testing.T) {
	for _, policy := range Policies() {
		b := mustNew(t, policy, WithTagFilter(TagFilter{Key: "version", Of: wishOf}), WithZone("zone", "a"), WithAffinity(keyOf, time.Hour))
		res := taggedResult(tagged{weight: 1, version: "v1", zone: "a"}, tagged{weight: 1, version: "v1", zone: "b"})
		ctx := wish(withKey(context.Background(), "k"), "v1")
		_ = call(ctx, b, res)
		if n := testing.AllocsPerRun(100, func() { _ = pickOnce(ctx, b, res) }); n != 0 {
			t.Errorf("%s: %v allocations", policy, n)
		}
	}
}
