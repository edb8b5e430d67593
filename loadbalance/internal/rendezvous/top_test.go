// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package rendezvous

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func addresses(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("10.0.%d.%d:8888", i/250, i%250)
	}
	return all
}

func top(caller string, items []string, size int) []string {
	return Top(caller, items, func(s string) string { return s }, size)
}

// TestItemsAreUsedAlike: of a hundred items a thousand callers have twenty each,
// so that each item has two hundred callers, give or take what chance does.
func TestItemsAreUsedAlike(t *testing.T) {
	counts := map[string]int{}
	for c := range 1000 {
		chosen := top(fmt.Sprintf("caller-%d", c), addresses(100), 20)
		if len(chosen) != 20 {
			t.Fatalf("%d chosen", len(chosen))
		}
		for _, a := range chosen {
			counts[a]++
		}
	}
	deviation := math.Sqrt(1000 * .2 * .8)
	for _, a := range addresses(100) {
		if off := math.Abs(float64(counts[a]) - 200); off > 4.5*deviation {
			t.Errorf("%s has %d callers, want about 200", a, counts[a])
		}
	}
}

// TestOneThatLeavesIsReplacedByOne, and the order of the list does not matter.
func TestOneThatLeavesIsReplacedByOne(t *testing.T) {
	items := addresses(100)
	before := top("c", items, 20)
	for i, gone := range items {
		after := top("c", slices.Delete(slices.Clone(items), i, i+1), 20)
		missing := 0
		for _, a := range before {
			if !slices.Contains(after, a) {
				missing++
			}
		}
		if want := len(slices.DeleteFunc(slices.Clone(before), func(a string) bool { return a != gone })); missing != want {
			t.Errorf("%d of twenty were replaced when %s left, want %d", missing, gone, want)
		}
	}
	rand.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	again := top("c", items, 20)
	slices.Sort(again)
	slices.Sort(before)
	if !slices.Equal(again, before) {
		t.Error("in another order others are chosen")
	}
}

func TestFewItemsAreAllChosen(t *testing.T) {
	if got := top("c", addresses(3), 5); len(got) != 3 {
		t.Errorf("%v", got)
	}
}
