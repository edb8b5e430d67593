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
				t.Fatalf("the changed ring has other %s than a new one of %v", difference, items)
			}
		}
	})
}

// differ names what two rings differ in. They are too long to be shown.
func differ(a, b *Ring[string]) string {
	for name, same := range map[string]bool{
		"places":         slices.Equal(a.points.places, b.points.places),
		"hashes":         slices.Equal(a.points.hashes, b.points.hashes),
		"owners":         slices.Equal(a.points.owners, b.points.owners),
		"buckets":        slices.Equal(a.points.starts, b.points.starts) && a.points.shift == b.points.shift,
		"values":         slices.Equal(a.values, b.values),
		"serving owners": slices.Equal(a.serving, b.serving),
	} {
		if !same {
			return name
		}
	}
	return ""
}

// TestUnchangedPartsAreShared: what costs most is not made again for nothing.
func TestUnchangedPartsAreShared(t *testing.T) {
	items := mixed(50)
	before := ring(items...)
	items = slices.Clone(items)
	items[7].Value = "other"
	after := New(items, 160, before)
	if &after.points.hashes[0] != &before.points.hashes[0] || &after.serving[0] != &before.serving[0] {
		t.Error("another value makes the ring anew")
	}
	items[7].Serving = false
	if after = New(items, 160, before); &after.points.hashes[0] != &before.points.hashes[0] {
		t.Error("draining makes the points anew")
	}
}
