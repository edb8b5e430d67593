// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package smoothwrr

import (
	"math"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func TestOrderIsNginxs(t *testing.T) {
	for _, tt := range []struct {
		weights []uint64
		want    string
	}{
		{[]uint64{5, 1, 1}, "aabacaa" + "aabacaa"},
		{[]uint64{50, 10, 10}, "aabacaa"},
		{[]uint64{1, 1, 1}, "abcabc"},
		{[]uint64{0, 3, 0, 3}, "bdbd"},
		{[]uint64{4, 2, 1}, "abacaba"},
		{[]uint64{7}, "aaa"},
		{[]uint64{math.MaxInt32, math.MaxInt32}, "ababab"},
	} {
		if got := take(sequence(tt.weights, nil), len(tt.want)); got != tt.want {
			t.Errorf("weights %v give %s, want %s", tt.weights, got, tt.want)
		}
	}
}

// TestEveryCycleIsExact compares with nginx's own steps and counts over two
// cycles.
func TestEveryCycleIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.Uint64Range(0, 60), 1, 12).
			Filter(func(w []uint64) bool { return sum(w) > 0 }).Draw(t, "weights")
		divisor := uint64(0)
		for _, w := range weights {
			divisor = gcd(w, divisor)
		}
		s := sequence(weights, nil)
		model := nginx{weights: weights, current: make([]int64, len(weights))}
		counts := make([]uint64, len(weights))
		for range 2 * sum(weights) / divisor {
			got, want := s.Next(), model.next()
			if got != want {
				t.Fatalf("turn of %d, nginx gives it to %d", got, want)
			}
			counts[got]++
		}
		for i, w := range weights {
			if counts[i] != 2*w/divisor {
				t.Fatalf("%d turns for weight %d in two cycles", counts[i], w)
			}
		}
	})
}

// TestExactUpToTheBound is the longest cycle that still has nginx's order, and
// the first that has not.
func TestExactUpToTheBound(t *testing.T) {
	within := []uint64{1<<21 - 1, 1}
	s := sequence(within, nil)
	model := nginx{weights: within, current: make([]int64, 2)}
	for turn := range 1 << 21 {
		if got, want := s.Next(), model.next(); got != want {
			t.Fatalf("turn %d is that of %d, nginx gives it to %d", turn, got, want)
		}
	}
	if above := sequence([]uint64{1 << 21, 1}, nil); above.table != nil {
		t.Errorf("a table of %d turns above the bound", len(above.table))
	}
}

func TestNobody(t *testing.T) {
	for name, s := range map[string]*Sequence[int]{
		"empty": sequence(nil, nil), "weight 0": sequence([]uint64{0, 0}, nil), "all gone": sequence(nil, sequence([]uint64{0, 2}, nil)),
	} {
		if got := s.Next(); got != 0 || s.Len() != 0 {
			t.Errorf("%s: a turn for %d of %d", name, got, s.Len())
		}
	}
	if got := take(sequence([]uint64{0, 1}, sequence(nil, nil)), 3); got != "bbb" {
		t.Errorf("after nobody: %s", got)
	}
}

// TestConcurrentCallersShareOutEachCycle: everybody is exact to within the turns
// that processors have left, which are in a row.
func TestConcurrentCallersShareOutEachCycle(t *testing.T) {
	for name, weights := range map[string][]uint64{"cycle": {5, 3, 2}, "list": {4, 4, 4}} {
		t.Run(name, func(t *testing.T) {
			s := sequence(weights, nil)
			got := make([]uint64, len(weights))
			var mu sync.Mutex
			together(func() {
				counts := make([]uint64, len(weights))
				for range 15_000 {
					counts[s.Next()]++
				}
				mu.Lock()
				defer mu.Unlock()
				for i, n := range counts {
					got[i] += n
				}
			})
			for i, w := range weights {
				want := w * 120_000 / sum(weights)
				if off := int(got[i]) - int(want); max(off, -off) > len(s.count.blocks) {
					t.Errorf("%d turns for weight %d of %v, want %d", got[i], w, weights, want)
				}
			}
		})
	}
}

// TestEachTurnIsGivenOutOnce: those that callers got and those that processors
// have left are all there are.
func TestEachTurnIsGivenOutOnce(t *testing.T) {
	c := newCounter()
	c.met.Store(true)
	var mu sync.Mutex
	var got []uint64
	together(func() {
		turns := make([]uint64, 20_000)
		for i := range turns {
			turns[i] = c.next()
		}
		mu.Lock()
		defer mu.Unlock()
		got = append(got, turns...)
	})
	for i := range c.blocks {
		left := c.blocks[i].left.Load()
		for n := range left & leftMask {
			got = append(got, left>>blockBits+n)
		}
	}
	slices.Sort(got)
	for i, turn := range got {
		if turn != uint64(i)+1 {
			t.Fatalf("turn %d is the %dth", turn, i+1)
		}
	}
	if given := c.turns.Load(); given != uint64(len(got)) {
		t.Errorf("%d turns, the counter says %d", len(got), given)
	}
}

// TestASingleCallerNeverLeavesTheOrder, however often it moves to another
// processor.
func TestASingleCallerNeverLeavesTheOrder(t *testing.T) {
	c := newCounter()
	for want := range uint64(10_000) {
		got := make(chan uint64)
		go func() { got <- c.next() }()
		if turn := <-got; turn != want+1 {
			t.Fatalf("turn %d, want %d", turn, want+1)
		}
	}
}

func together(f func()) {
	var all sync.WaitGroup
	for range 8 {
		all.Go(f)
	}
	all.Wait()
}
