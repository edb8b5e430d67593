// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package maglev

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/fairway-rpc/fairway/loadbalance/internal/keyhash"
)

// TestMovement: a change of one instance moves its own keys and few others.
// The limits are about a tenth above what the package documentation says.
func TestMovement(t *testing.T) {
	limits := map[int]struct{ join, leave, heavier float64 }{
		3:      {0.26, 0.345, 0.024},
		10:     {0.105, 0.115, 0.012},
		100:    {0.015, 0.015, 0.0033},
		1000:   {0.0095, 0.0100, 0.0018},
		10_000: {0.0018, 0.0018, 0.0003},
	}
	for n, limit := range limits {
		items := fleet("10.0", n, 10)
		before := New(items, nil)
		heavier := slices.Clone(items)
		heavier[n/2].Weight = 11
		for _, c := range []struct {
			change       string
			items        []Item[string]
			ideal, limit float64
		}{
			{"join", append(slices.Clone(items), item("10.100.200.100:18888", 10)), 1 / float64(n+1), limit.join},
			{"leave", items[1:], 1 / float64(n), limit.leave},
			{"heavier by a tenth", heavier, 11/float64(10*n+1) - 1/float64(n), limit.heavier},
		} {
			got := moved(before, New(c.items, before))
			t.Logf("n=%d, %s: %.5f of the keys move, ideal %.5f", n, c.change, got, c.ideal)
			if got == 0 || got > c.limit {
				t.Errorf("n=%d, %s: %.5f of the keys move, want at most %.5f", n, c.change, got, c.limit)
			}
		}
	}
}

// TestDrainingMovesOnlyItsKeys: to all others alike, and they come back.
func TestDrainingMovesOnlyItsKeys(t *testing.T) {
	const keys = 100_000
	items := fleet("10.0", 10, 10)
	before := table(items...)
	items[3].Serving = false
	during := New(items, before)
	taken := map[string]int{}
	for i := range keys {
		h := keyhash.String(fmt.Sprint(i))
		was, is := before.Lookup(h), during.Lookup(h)
		switch {
		case was == items[3].Value:
			taken[is]++
		case was != is:
			t.Fatalf("key %d moved from %s to %s, none of which is drained", i, was, is)
		}
	}
	for _, other := range items {
		if share := float64(taken[other.Value]) / (keys / 90.0); other.Serving && math.Abs(share-1) > 0.15 {
			t.Errorf("%s got %.2f of its part of the drained one's keys", other.Value, share)
		}
	}
	if taken[items[3].Value] > 0 {
		t.Error("the drained one has keys")
	}
	items[3].Serving = true
	if back := New(items, during); moved(before, back) != 0 || !slices.Equal(back.serving, before.serving) {
		t.Error("the keys did not come back")
	}
}

// TestUnchangedPartsAreShared: what costs most is not made again for nothing.
func TestUnchangedPartsAreShared(t *testing.T) {
	items := mixed(50)
	before := table(items...)
	items = slices.Clone(items)
	items[7].Value = "other"
	after := New(items, before)
	if &after.owners[0] != &before.owners[0] || &after.serving[0] != &before.serving[0] {
		t.Error("another value makes the table anew")
	}
	for i := range items {
		items[i].Weight *= 1000 // as in another unit
	}
	if after = New(items, before); &after.owners[0] != &before.owners[0] {
		t.Error("weights in another unit make the table anew")
	}
	items[7].Serving = false
	if after = New(items, before); &after.owners[0] != &before.owners[0] || &after.serving[0] == &before.serving[0] {
		t.Error("draining makes the owners anew, or has no effect")
	}
}
