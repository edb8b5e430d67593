// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package leastactive

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// model is a tree beside the plain counts that it must agree with.
type model struct {
	tree    Tree[int]
	leaves  []Leaf[int]
	counts  []int64
	weights []uint64 // 0 for who is not listed
	running []int
}

// TestChoosesLikeANaiveScan drives both with the same calls, changes of the list
// and exclusions.
func TestChoosesLikeANaiveScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, 3, 4, 5, 9, 16, 17, 70}).Draw(t, "n")
		m := &model{leaves: make([]Leaf[int], n), counts: make([]int64, n), weights: make([]uint64, n)}
		m.reset(t)
		t.Repeat(map[string]func(*rapid.T){
			"reset":   m.reset,
			"acquire": m.acquire,
			"retry":   m.acquire, // as often again
			"begin":   m.begin,
			"release": m.release,
			"":        m.check,
		})
	})
}

func (m *model) item(t *rapid.T, label string) int {
	return rapid.IntRange(0, len(m.leaves)-1).Draw(t, label)
}

func (m *model) reset(t *rapid.T) {
	clear(m.weights)
	listed := rapid.SliceOfNDistinct(rapid.IntRange(0, len(m.leaves)-1), 0, -1, rapid.ID[int]).Draw(t, "listed")
	entries := make([]Entry[int], 0, len(listed))
	for _, i := range listed {
		m.weights[i] = rapid.Uint64Range(0, 3).Draw(t, "weight")
		entries = append(entries, Entry[int]{Leaf: &m.leaves[i], Value: i, Weight: m.weights[i]})
	}
	m.tree.Reset(entries)
}

func (m *model) acquire(t *rapid.T) {
	excluded := rapid.SliceOfN(rapid.IntRange(0, len(m.leaves)-1), 0, 3).Draw(t, "excluded")
	has := func(i int) bool { return slices.Contains(excluded, i) }
	fewest := int64(math.MaxInt64)
	for i, w := range m.weights {
		if w > 0 && !has(i) {
			fewest = min(fewest, m.counts[i])
		}
	}
	skip := has
	if len(excluded) == 0 {
		skip = nil
	}
	got, leaf, ok := m.tree.Acquire(fixed(rapid.Uint64().Draw(t, "random")), skip)
	if ok != (fewest < math.MaxInt64) {
		t.Fatalf("found somebody: %v", ok)
	}
	if !ok {
		return
	}
	if leaf != &m.leaves[got] || m.weights[got] == 0 || has(got) || m.counts[got] != fewest {
		t.Fatalf("chose %d with %d calls and weight %d; the fewest are %d", got, m.counts[got], m.weights[got], fewest)
	}
	m.counts[got]++
	m.running = append(m.running, got)
}

// begin counts a call that was chosen elsewhere.
func (m *model) begin(t *rapid.T) {
	i := m.item(t, "begins")
	m.tree.AcquireLeaf(&m.leaves[i])
	m.counts[i]++
	m.running = append(m.running, i)
}

// release ends a call, or one too many.
func (m *model) release(t *rapid.T) {
	i := m.item(t, "ends")
	if at := slices.Index(m.running, i); at >= 0 {
		m.running = slices.Delete(m.running, at, at+1)
	}
	m.counts[i] = max(m.counts[i]-1, 0)
	m.tree.Release(&m.leaves[i])
}

func (m *model) check(t *rapid.T) {
	for i := range m.leaves {
		if got := m.leaves[i].Count(); got != m.counts[i] {
			t.Fatalf("item %d has %d calls, want %d", i, got, m.counts[i])
		}
	}
}
