// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package smoothwrr

import (
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func sequence(weights []uint64, prev *Sequence[int]) *Sequence[int] {
	items := make([]int, len(weights))
	for i := range items {
		items[i] = i
	}
	return New(items, func(i int) uint64 { return weights[i] }, prev)
}

func take(s *Sequence[int], n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte("abcdefgh"[s.Next()])
	}
	return b.String()
}

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
	} {
		if got := take(sequence(tt.weights, nil), len(tt.want)); got != tt.want {
			t.Errorf("weights %v give %s, want %s", tt.weights, got, tt.want)
		}
	}
}

// TestEveryCycleIsExact compares with nginx's own steps, for a while, and
// counts over two cycles.
func TestEveryCycleIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.Uint64Range(0, 60), 1, 12).Draw(t, "weights")
		total, divisor := uint64(0), uint64(0)
		for _, w := range weights {
			total += w
			divisor = gcd(w, divisor)
		}
		s := sequence(weights, nil)
		if total == 0 {
			if s.Next() != 0 || s.Len() != 0 {
				t.Fatal("turns for nobody")
			}
			return
		}
		current := make([]int64, len(weights))
		counts := make([]uint64, len(weights))
		for range 2 * total / divisor {
			best := -1
			for i, w := range weights {
				current[i] += int64(w)
				if w > 0 && (best < 0 || current[i] > current[best]) {
					best = i
				}
			}
			current[best] -= int64(total)
			got := s.Next()
			if got != best {
				t.Fatalf("turn of %d, nginx gives it to %d", got, best)
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

// TestAnyWeightsStayWithinFourTurns: above the bound of the cycle everybody is
// within four turns of the exact share over windows of a million, wherever
// they begin.
func TestAnyWeightsStayWithinFourTurns(t *testing.T) {
	source := rand.New(rand.NewPCG(7, 7))
	for name, weights := range map[string][]uint64{
		"two extremes": {math.MaxInt32, 1},
		"ten":          random(source, 10),
		"hundred":      random(source, 100),
		"thousand":     random(source, 1000),
	} {
		t.Run(name, func(t *testing.T) {
			s := sequence(weights, nil)
			if _, ok := s.order.(*spread); !ok {
				t.Fatalf("order is %T", s.order)
			}
			total := 0.0
			for _, w := range weights {
				total += float64(w)
			}
			for range 3 {
				s.counter.turns.Store(source.Uint64() >> 1)
				counts := make([]float64, len(weights))
				low, high := make([]float64, len(weights)), make([]float64, len(weights))
				for turn := 1; turn <= 1_000_000; turn++ {
					counts[s.Next()]++
					if turn%1000 != 0 {
						continue
					}
					for i, w := range weights {
						off := counts[i] - float64(turn)*float64(w)/total
						low[i], high[i] = min(low[i], off), max(high[i], off)
					}
				}
				for i := range weights {
					if max(-low[i], high[i]) > 4 {
						t.Errorf("item %d is off by %.2f to %.2f turns", i, low[i], high[i])
					}
				}
			}
		})
	}
}

func random(source *rand.Rand, n int) []uint64 {
	weights := make([]uint64, n)
	for i := range weights {
		weights[i] = source.Uint64N(math.MaxInt32) + 1
	}
	return weights
}

func TestChangesDoNotFloodTheHeaviest(t *testing.T) {
	var s *Sequence[int]
	counts := make([]float64, 3)
	for i := range 3000 { // a change after each turn
		s = sequence([]uint64{5, 1, uint64(1 + i%2)}, s)
		counts[s.Next()]++
	}
	if share := counts[0] / 3000; share > 0.75 {
		t.Errorf("the heaviest gets %.2f of the turns, its weight is two thirds", share)
	}
}

func TestConcurrentSafeAndExact(t *testing.T) {
	weights := []uint64{5, 3, 2}
	s := sequence(weights, nil)
	var mu sync.Mutex
	var all sync.WaitGroup
	total := make([]uint64, 3)
	for range 8 {
		all.Go(func() {
			counts := make([]uint64, 3)
			for range 10_000 {
				counts[s.Next()]++
			}
			mu.Lock()
			defer mu.Unlock()
			for i, n := range counts {
				total[i] += n
			}
		})
	}
	all.Wait()
	for i, w := range weights {
		if total[i] != w*8000 {
			t.Errorf("item %d got %d turns of 80,000, want exactly %d", i, total[i], w*8000)
		}
	}
}
