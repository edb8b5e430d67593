// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"testing"
	"time"
)

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
