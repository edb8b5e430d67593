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

	capacities []float64
	slowness   []float64
}

// cost is what is compared, as the doc says.
func (m *model) cost(i int) float64 {
	return float64(m.counts[i]+1) / max(m.capacities[i], 0x1p-60) * m.slowness[i]
}

// TestChoosesLikeANaiveScan drives both with the same calls, changes of the list
// and exclusions.
func TestChoosesLikeANaiveScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, 3, 4, 5, 9, 16, 17, 70}).Draw(t, "n")
		m := &model{leaves: make([]Leaf[int], n), counts: make([]int64, n), weights: make([]uint64, n)}
		m.capacities, m.slowness = slices.Repeat([]float64{1}, n), slices.Repeat([]float64{1}, n)
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
		m.capacities[i] = rapid.SampledFrom([]float64{1, 1, 2, 3, 0.5, 0.01, 1 << 31}).Draw(t, "capacity")
		entries = append(entries, Entry[int]{Leaf: &m.leaves[i], Value: i, Weight: m.weights[i], Capacity: m.capacities[i]})
	}
	m.tree.Reset(entries)
}

func (m *model) acquire(t *rapid.T) {
	excluded := rapid.SliceOfN(rapid.IntRange(0, len(m.leaves)-1), 0, 3).Draw(t, "excluded")
	has := func(i int) bool { return slices.Contains(excluded, i) }
	lowest := math.Inf(1)
	for i, w := range m.weights {
		if w > 0 && !has(i) {
			lowest = min(lowest, m.cost(i))
		}
	}
	skip := has
	if len(excluded) == 0 {
		skip = nil
	}
	got, leaf, ok := m.tree.Acquire(fixed(rapid.Uint64().Draw(t, "random")), skip)
	if ok != !math.IsInf(lowest, 1) {
		t.Fatalf("found somebody: %v", ok)
	}
	if !ok {
		return
	}
	if leaf != &m.leaves[got] || m.weights[got] == 0 || has(got) || m.cost(got) != lowest {
		t.Fatalf("chose %d at a cost of %v and weight %d; the lowest is %v", got, m.cost(got), m.weights[got], lowest)
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
	if rapid.Bool().Draw(t, "tells") {
		m.slowness[i] = rapid.SampledFrom([]float64{1, 0.001, 7, 1e9}).Draw(t, "slowness")
		m.tree.Slow(&m.leaves[i], m.slowness[i])
	}
	m.tree.Release(&m.leaves[i])
}

func (m *model) check(t *rapid.T) {
	for i := range m.leaves {
		if got := m.leaves[i].Count(); got != m.counts[i] {
			t.Fatalf("item %d has %d calls, want %d", i, got, m.counts[i])
		}
	}
}
