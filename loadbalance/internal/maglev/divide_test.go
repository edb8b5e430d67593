// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package maglev

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// slotsOf counts every item's slots in the table itself.
func slotsOf(t *Table[string]) map[string]int {
	counts := make(map[string]int, len(t.values))
	for _, owner := range t.owners {
		counts[t.values[owner]]++
	}
	return counts
}

// TestLoadOfEqualWeights: nobody has more than 1 % above the mean.
func TestLoadOfEqualWeights(t *testing.T) {
	for _, n := range []int{1, 3, 10, 100, 1000, 1311, 1312, 10_000, 10_485} {
		r := New(fleet("10.0", n, 7), nil)
		mean := float64(r.Len()) / float64(n)
		most, least := 0.0, math.Inf(1)
		for _, slots := range slotsOf(r) {
			most, least = max(most, float64(slots)), min(least, float64(slots))
		}
		t.Logf("n=%d: %d slots, the most %.4f of the mean, the least %.4f", n, r.Len(), most/mean, least/mean)
		if most/mean > 1.01 || least/mean < 0.99 || len(slotsOf(r)) != n {
			t.Errorf("n=%d: from %.4f to %.4f of the mean", n, least/mean, most/mean)
		}
	}
}

// TestLoadFollowsWeights: to the slot.
func TestLoadFollowsWeights(t *testing.T) {
	for _, n := range []int{2, 10, 100, 1000, 5000} {
		items := mixed(n)
		r := New(items, nil)
		total := 0.0
		for _, i := range items {
			total += float64(i.Weight)
		}
		slots := slotsOf(r)
		for _, i := range items {
			if want := float64(i.Weight) / total * float64(r.Len()); math.Abs(float64(slots[i.Value])-want) > 1 {
				t.Errorf("n=%d: weight %d has %d slots, want %.2f", n, i.Weight, slots[i.Value], want)
			}
		}
	}
}

func TestExtremeWeights(t *testing.T) {
	const most = math.MaxInt32
	for name, c := range map[string]struct {
		weights []uint64
		slots   []int
	}{
		"none at 0":             {[]uint64{0, 1, 0, 1}, []int{0, 65_551, 0, 65_550}},
		"0 beside the heaviest": {[]uint64{0, most}, []int{0, 131_101}},
		"two of the heaviest":   {[]uint64{most, most}, []int{65_551, 65_550}},
		"one for the lightest":  {[]uint64{most, 1, most, 1}, []int{65_550, 1, 65_549, 1}},
		"all the lightest":      {[]uint64{1, 1, 1}, []int{43_701, 43_700, 43_700}},
	} {
		items := fleet("10.0", len(c.weights), 0)
		for i, w := range c.weights {
			items[i].Weight = w
		}
		slots := slotsOf(New(items, nil))
		sum := 0
		for i, want := range c.slots {
			got := slots[items[i].Value]
			sum += got
			if got < want-1 || got > want+1 || (want == 0) != (got == 0) { // who gets the odd ones does not matter
				t.Errorf("%s: weight %d has %d slots, want %d", name, c.weights[i], got, want)
			}
		}
		if sum != 131_101 {
			t.Errorf("%s: %d slots in all", name, sum)
		}
	}
}

// TestDivisionIsFairToTheOthers: when one becomes heavier or joins, nobody else
// gains a slot, so that none moves for the division's sake alone.
func TestDivisionIsFairToTheOthers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weight := rapid.OneOf(rapid.Uint64Range(0, 20), rapid.Uint64Range(0, math.MaxInt32), rapid.Just(uint64(math.MaxInt32)))
		items := fleet("10.0", rapid.IntRange(1, 200).Draw(t, "n"), 0)
		for i := range items {
			items[i].Weight = weight.Draw(t, "weight")
		}
		one := rapid.IntRange(0, len(items)-1).Draw(t, "one")
		before := placesOf(items)
		items[one].Weight = min(items[one].Weight+max(1, weight.Draw(t, "more")), math.MaxInt32)
		after := placesOf(items)
		sum := uint32(0)
		for i, p := range after {
			sum += p.slots
			if i != one && p.slots > before[i].slots && before[one].slots > 0 {
				t.Fatalf("%s has %d slots, and %d when another is heavier", p.address, before[i].slots, p.slots)
			}
			if (p.slots == 0) != (items[i].Weight == 0) {
				t.Fatalf("weight %d has %d slots", items[i].Weight, p.slots)
			}
		}
		if sum != 131_101 {
			t.Fatalf("%d slots in all", sum)
		}
	})
}
