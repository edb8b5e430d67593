// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package hashring

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

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

// TestChangedRingIsLikeANewOne: whatever changes have led to it.
func TestChangedRingIsLikeANewOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := fleet("10.0", rapid.IntRange(1, 30).Draw(t, "n"), 10)
		changed := ring(items...)
		for range rapid.IntRange(1, 8).Draw(t, "changes") {
			items = slices.Clone(items)
			for range rapid.IntRange(1, 3).Draw(t, "at once") {
				switch i := rapid.IntRange(0, len(items)).Draw(t, "item"); {
				case i == len(items):
					items = slices.Insert(items, rapid.IntRange(0, i).Draw(t, "where"), item(fmt.Sprintf("10.%d.0.1:1", rapid.IntRange(0, 300).Draw(t, "joins")), 7))
				case rapid.Bool().Draw(t, "leaves"):
					items = slices.Delete(items, i, i+1)
				default:
					items[i].Weight = rapid.Uint64Range(0, 40).Draw(t, "weight")
					items[i].Serving = rapid.Bool().Draw(t, "serving")
					items[i].Value = rapid.SampledFrom([]string{"x", "y"}).Draw(t, "value")
				}
			}
			slices.SortStableFunc(items, func(a, b Item[string]) int { return strings.Compare(a.Address, b.Address) })
			items = slices.CompactFunc(items, func(a, b Item[string]) bool { return a.Address == b.Address })
			changed = New(items, 160, changed)
			if difference := differ(ring(items...), changed); difference != "" {
				t.Fatalf("a new ring of %v and the changed one have %s", items, difference)
			}
		}
	})
}

// differ tells in what two rings differ, apart from slots and arcs.
func differ(a, b *Ring[string]) string {
	if x, y := points(a), points(b); !slices.Equal(x, y) {
		return fmt.Sprintf("points %v, %v", x, y)
	}
	for name, r := range map[string]*Ring[string]{"the first": a, "the second": b} {
		if got := len(points(r)); got != r.Len() {
			return fmt.Sprintf("%d points in %s, which says %d", got, name, r.Len())
		}
	}
	return ""
}

type owned struct {
	hash  uint64
	value string
}

func points(r *Ring[string]) (all []owned) {
	for _, arc := range r.circle.arcs {
		for i, hash := range arc.hashes {
			all = append(all, owned{hash, r.values[arc.owners[i]]})
		}
	}
	return all
}

func TestUnchangedPartsAreShared(t *testing.T) {
	items := mixed(50)
	before := ring(items...)
	items = slices.Clone(items)
	items[7].Value = "other"
	after := New(items, 160, before)
	if after.circle != before.circle {
		t.Error("another value makes the points anew")
	}
	items[7].Serving = false
	drained := New(items, 160, after)
	shared := 0
	for i := range drained.circle.arcs {
		if &drained.circle.arcs[i].hashes[0] == &after.circle.arcs[i].hashes[0] {
			shared++
		}
	}
	if shared == 0 || shared == len(drained.circle.arcs) {
		t.Errorf("draining one of fifty shares %d of %d arcs", shared, len(drained.circle.arcs))
	}
}

// TestSlotsAndMemoryDoNotGrow: instances come and go for ever.
func TestSlotsAndMemoryDoNotGrow(t *testing.T) {
	items := fleet("10.0", 100, 10)
	r := ring(items...)
	for i := range 3000 {
		items = slices.Clone(items)
		items[i%100] = item(fmt.Sprintf("10.%d.%d.1:80", 1+i/250, i%250), 10)
		r = New(items, 160, r)
		if len(r.values) > 101 {
			t.Fatalf("%d slots for 100 items after %d changes", len(r.values), i+1)
		}
		if r.circle.apart > maxApart {
			t.Fatalf("%d points are apart after %d changes", r.circle.apart, i+1)
		}
	}
	if difference := differ(ring(items...), r); difference != "" {
		t.Fatal(difference)
	}
	for len(items) > 1 {
		items = items[1:]
		r = New(items, 160, r)
	}
	if len(r.values) > perArc+2 || len(r.circle.arcs) > 1<<5 {
		t.Errorf("%d slots and %d arcs for one item", len(r.values), len(r.circle.arcs))
	}
}
