// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package maglev

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestOrderOfTheListAndHistoryDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := fleet("10.0", rapid.IntRange(1, 12).Draw(t, "n"), 3)
		prev := table(items...)
		for i := range items {
			items[i].Weight = rapid.Uint64Range(0, 20).Draw(t, "weight")
			items[i].Serving = rapid.Bool().Draw(t, "serving")
		}
		a, b := table(items...), New(rapid.Permutation(items).Draw(t, "shuffled"), prev)
		for range 50 {
			h := rapid.Uint64().Draw(t, "hash")
			if x, y := a.Lookup(h), b.Lookup(h); x != y {
				t.Fatalf("%x belongs to %q or %q", h, x, y)
			}
		}
	})
}

// TestTheNextWhoServesHasTheKey compares with a walk from slot to slot.
func TestTheNextWhoServesHasTheKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := fleet("10.0", rapid.IntRange(2, 9).Draw(t, "n"), 0)
		serves := map[string]bool{}
		for i := range items {
			items[i].Weight = rapid.Uint64Range(0, 3).Draw(t, "weight")
			items[i].Serving = rapid.Bool().Draw(t, "serving")
			serves[items[i].Value] = items[i].Serving
		}
		r := table(items...)
		for range 5 {
			h := rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, math.MaxUint64})).Draw(t, "hash")
			excluded := rapid.SampledFrom(items).Draw(t, "excluded").Value
			want, wantSkip := "", ""
			for n := range r.Len() {
				v := r.values[r.owners[(int(slot(h, r.Len()))+n)%r.Len()]]
				if want == "" && serves[v] {
					want = v
				}
				if serves[v] && v != excluded {
					wantSkip = v
					break
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
	for name, r := range map[string]*Table[string]{
		"empty": table(), "weight 0": table(item("a:1", 0)), "draining": table(Item[string]{Value: "a", Address: "a:1", Weight: 1}),
	} {
		if got := r.Lookup(7); got != "" {
			t.Errorf("%s: %q", name, got)
		}
		if _, ok := r.LookupSkip(7, func(string) bool { return false }); ok {
			t.Errorf("%s: found somebody", name)
		}
	}
}

// TestSkippingAllOrNearlyAll: it does not go round the table to find nobody, and
// finds the last one however few slots it has.
func TestSkippingAllOrNearlyAll(t *testing.T) {
	r := table(item("a:1", math.MaxInt32), item("b:1", math.MaxInt32), item("c:1", 1), item("d:1", 0))
	asked := 0
	if v, ok := r.LookupSkip(7, func(string) bool { asked++; return true }); ok || asked > 100 {
		t.Errorf("%q after %d questions", v, asked)
	}
	if v, ok := r.LookupSkip(7, func(v string) bool { return v < "c" }); !ok || v != "c:1" {
		t.Errorf("%q, though c:1 is left", v)
	}
}
