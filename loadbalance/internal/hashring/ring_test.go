// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package hashring

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

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
			var hasher pointHasher
			hasher.reset(items[i].Address)
			for n := range uint32(items[i].Weight) * 16 {
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
