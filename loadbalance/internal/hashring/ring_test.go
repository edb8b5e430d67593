// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package hashring

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func ring(items ...Item[string]) *Ring[string] { return New(items, 160, nil) }

func item(address string, weight uint64) Item[string] {
	return Item[string]{Value: address, Address: address, Weight: weight, Serving: true}
}

func fleet(prefix string, n int, weight uint64) []Item[string] {
	items := make([]Item[string], n)
	for i := range items {
		items[i] = item(fmt.Sprintf("%s.%d.%d:8888", prefix, i/250, i%250), weight)
	}
	return items
}

// TestMappingNeverChanges: these owners must be the same in every release and
// on every machine, or caches behind a consistent hash are lost in an upgrade.
func TestMappingNeverChanges(t *testing.T) {
	r := ring(item("10.0.0.1:8888", 10), item("10.0.0.2:8888", 10), item("10.0.0.10:8888", 5), item("[::1]:8888", 20), item("/run/echo.sock", 1))
	var got []string
	for i := range 20 {
		got = append(got, r.Lookup(Hash(fmt.Sprintf("user-%d", i))))
	}
	const want = "[::1]:8888 10.0.0.2:8888 10.0.0.1:8888 10.0.0.1:8888 [::1]:8888 " +
		"10.0.0.1:8888 10.0.0.2:8888 10.0.0.2:8888 10.0.0.1:8888 10.0.0.10:8888 " +
		"[::1]:8888 10.0.0.1:8888 [::1]:8888 10.0.0.2:8888 10.0.0.10:8888 " +
		"[::1]:8888 10.0.0.1:8888 10.0.0.1:8888 10.0.0.1:8888 [::1]:8888"
	if all := strings.Join(got, " "); all != want {
		t.Errorf("owners\n%s\nwant\n%s", all, want)
	}
}

func TestOrderOfTheListDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := fleet("10.0", rapid.IntRange(1, 12).Draw(t, "n"), 3)
		for i := range items {
			items[i].Weight = rapid.Uint64Range(0, 20).Draw(t, "weight")
			items[i].Serving = rapid.Bool().Draw(t, "serving")
		}
		shuffled := rapid.Permutation(items).Draw(t, "shuffled")
		a, b := ring(items...), ring(shuffled...)
		for range 50 {
			h := rapid.Uint64().Draw(t, "hash")
			if x, y := a.Lookup(h), b.Lookup(h); x != y {
				t.Fatalf("%x belongs to %q or %q", h, x, y)
			}
		}
	})
}

// TestLookupLikeANaiveRing compares with a plain sorted list of points.
func TestLookupLikeANaiveRing(t *testing.T) {
	type point struct {
		hash uint64
		item Item[string]
	}
	rapid.Check(t, func(t *rapid.T) {
		items := fleet("10.0", rapid.IntRange(0, 9).Draw(t, "n"), 0)
		var naive []point
		serving := 0
		for i := range items {
			items[i].Weight = rapid.Uint64Range(0, 3).Draw(t, "weight")
			items[i].Serving = rapid.Bool().Draw(t, "serving")
			hasher := newPointHasher(items[i].Address)
			for n := range items[i].Weight * 16 {
				naive = append(naive, point{hasher.point(n), items[i]})
			}
			if items[i].Serving && items[i].Weight > 0 {
				serving++
			}
		}
		slices.SortFunc(naive, func(a, b point) int { return cmp.Compare(a.hash, b.hash) })
		r := ring(items...)
		for range 30 {
			h := rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, math.MaxUint64})).Draw(t, "hash")
			excluded := rapid.SampledFrom(append([]Item[string]{{Value: "nobody"}}, items...)).Draw(t, "excluded").Value
			want, wantSkip := "", ""
			first, _ := slices.BinarySearchFunc(naive, h, func(p point, h uint64) int { return cmp.Compare(p.hash, h) })
			for n := range naive {
				p := naive[(first+n)%len(naive)]
				if !p.item.Serving {
					continue
				}
				if want == "" {
					want = p.item.Value
				}
				if wantSkip == "" && p.item.Value != excluded {
					wantSkip = p.item.Value
				}
			}
			if got := r.Lookup(h); got != want {
				t.Fatalf("%x belongs to %q, want %q", h, got, want)
			}
			if got, ok := r.LookupSkip(h, func(v string) bool { return v == excluded }); got != wantSkip || ok != (wantSkip != "") {
				t.Fatalf("%x without %s belongs to %q, want %q", h, excluded, got, wantSkip)
			}
		}
	})
}

// TestChangeOfOneMovesOnlyItsKeys: joining, leaving, draining and reweighing.
func TestChangeOfOneMovesOnlyItsKeys(t *testing.T) {
	const keys = 20_000
	base := fleet("10.0", 10, 10)
	changes := map[string]func(items []Item[string]) []Item[string]{
		"join with a longer address": func(items []Item[string]) []Item[string] { return append(items, item("10.100.200.100:18888", 10)) },
		"leave":                      func(items []Item[string]) []Item[string] { return items[1:] },
		"heavier":                    func(items []Item[string]) []Item[string] { items[0].Weight = 11; return items },
		"lighter":                    func(items []Item[string]) []Item[string] { items[0].Weight = 1; return items },
		"drained":                    func(items []Item[string]) []Item[string] { items[0].Serving = false; return items },
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			before := ring(base...)
			changed := change(slices.Clone(base))
			after := New(changed, 160, before)
			one := "10.0.0.0:8888"
			if len(changed) > len(base) {
				one = changed[len(changed)-1].Value
			}
			moved := 0
			for i := range keys {
				h := Hash(fmt.Sprint(i))
				x, y := before.Lookup(h), after.Lookup(h)
				if x == y {
					continue
				}
				moved++
				if x != one && y != one {
					t.Fatalf("key %d moved from %s to %s though only %s has changed", i, x, y, one)
				}
			}
			if moved == 0 || moved > keys*15/100 {
				t.Errorf("%d of %d keys moved, the one's share is a tenth", moved, keys)
			}
		})
	}
}

func TestLoadIsSpread(t *testing.T) {
	for n, limit := range map[int]float64{10: 1.2, 100: 1.25, 1000: 1.4} {
		sum := 0.0
		for set := range 10 {
			r := ring(fleet(fmt.Sprintf("10.%d", set), n, 10)...)
			counts := map[string]int{}
			source := rand.New(rand.NewPCG(uint64(set), uint64(n)))
			keys := 500 * n
			for range keys {
				counts[r.Lookup(source.Uint64())]++
			}
			most := 0
			for _, c := range counts {
				most = max(most, c)
			}
			sum += float64(most) / 500
		}
		if mean := sum / 10; mean > limit {
			t.Errorf("n=%d: the busiest has %.3f times the mean, want at most %.2f", n, mean, limit)
		}
	}
}

func TestPointsAreBoundedWhateverTheWeights(t *testing.T) {
	r := ring(item("a:1", math.MaxInt32), item("b:1", math.MaxInt32), item("c:1", 1))
	if r.Len() > maxPoints || r.Len() < maxPoints/4 {
		t.Errorf("%d points", r.Len())
	}
	c := 0
	for _, owner := range r.points.owners {
		if r.values[owner] == "c:1" {
			c++
		}
	}
	if c != 1 {
		t.Errorf("the lightest has %d points, want 1", c)
	}
}

func TestNobody(t *testing.T) {
	for name, r := range map[string]*Ring[string]{
		"empty": ring(), "weight 0": ring(item("a:1", 0)), "draining": ring(Item[string]{Value: "a", Address: "a:1", Weight: 1}),
	} {
		if got := r.Lookup(7); got != "" {
			t.Errorf("%s: %q", name, got)
		}
		if _, ok := r.LookupSkip(7, func(string) bool { return false }); ok {
			t.Errorf("%s: found somebody", name)
		}
	}
}
