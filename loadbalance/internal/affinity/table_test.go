// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package affinity

import (
	"fmt"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func TestItemIsKeptForItsTime(t *testing.T) {
	table := New[string](10, 1000)
	if _, ok := table.Get("k", 1); ok {
		t.Error("an item of nobody's")
	}
	if got := table.Give("k", "", "a", 1); got != "a" {
		t.Errorf("given %q", got)
	}
	for now, want := range map[int64]string{1: "a", 10: "a", 11: ""} {
		if got, _ := table.Get("k", now); got != want {
			t.Errorf("at %d the key has %q, want %q", now, got, want)
		}
	}
}

// TestFirstOfTwoCallersWins: both saw that the key had nothing, or the same that
// would not do any more.
func TestFirstOfTwoCallersWins(t *testing.T) {
	table := New[string](10, 1000)
	for _, step := range []struct{ instead, item, want string }{
		{"", "a", "a"}, {"", "b", "a"}, {"a", "c", "c"}, {"a", "d", "c"},
	} {
		if got := table.Give("k", step.instead, step.item, 1); got != step.want {
			t.Errorf("%+v: given %q", step, got)
		}
	}
}

// TestLeastRecentlyUsedAreForgotten, as a plain list of keys would do it.
func TestLeastRecentlyUsedAreForgotten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const most = 4
		table := New[int](1000, most*shards)
		recent := map[*part[int]][]string{} // the newest last
		for step := range 200 {
			key := fmt.Sprint(rapid.IntRange(0, 200).Draw(t, "key"))
			p := table.part(key)
			keys := recent[p]
			at := -1
			for i, k := range keys {
				if k == key {
					at = i
				}
			}
			if _, ok := table.Get(key, 1); ok != (at >= 0) {
				t.Fatalf("step %d: %q is there: %v, want %v", step, key, ok, at >= 0)
			}
			table.Give(key, step, step, 1)
			if at >= 0 {
				keys = append(keys[:at:at], keys[at+1:]...)
			}
			keys = append(keys, key)
			recent[p] = keys[max(0, len(keys)-most):]
		}
	})
}

func TestKeysAreBounded(t *testing.T) {
	const most = 100_000
	table := New[int](1000, most)
	for i := range 3 * most {
		table.Give(fmt.Sprint(i), 0, i, 1)
	}
	if n := table.Len(); n > most || n < most*9/10 {
		t.Errorf("%d keys of at most %d", n, most)
	}
}

func TestConcurrentCallersAgree(t *testing.T) {
	table := New[int](1000, 1000)
	var callers sync.WaitGroup
	got := make([][100]int, 8)
	for c := range got {
		callers.Go(func() {
			for i := range got[c] {
				got[c][i] = table.Give(fmt.Sprint(i), 0, c+1, 1)
			}
		})
	}
	callers.Wait()
	for c := range got {
		if got[c] != got[0] {
			t.Errorf("callers were given %v and %v", got[0], got[c])
		}
	}
}

func TestHitAllocatesNothing(t *testing.T) {
	table := New[int](1000, 1000)
	table.Give("k", 0, 1, 1)
	if n := testing.AllocsPerRun(1000, func() { table.Get("k", 1) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
