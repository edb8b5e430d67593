// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package smoothwrr

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// TestAnyWeightsStayWithinFourTurns: above the bound of nginx's cycle everybody
// is within four turns of the exact share, over any million turns and any
// shorter stretch of them.
func TestAnyWeightsStayWithinFourTurns(t *testing.T) {
	source := rand.New(rand.NewPCG(7, 7))
	for name, weights := range map[string][]uint64{
		"two extremes":         {math.MaxInt32, 1},
		"three":                {1_000_003, 999_983, 1_234_567},
		"ten":                  random(source, 10),
		"hundred":              random(source, 100),
		"thousand":             random(source, 1000),
		"thousand of 1 to 100": mixed(1000),
		"ten thousand":         mixed(10_000),
		"one heavy":            append(repeat(5000, func(int) uint64 { return 1 }), 5003),
		"halves":               repeat(31, func(i int) uint64 { return 1 << i }),
	} {
		t.Run(name, func(t *testing.T) {
			s := sequence(weights, nil)
			if s.floats == nil {
				t.Fatal("the weights have a cycle")
			}
			for range 2 {
				s.offset = source.Uint64() >> 8
				if shorter, whole := worst(s, weights); shorter > 4 || whole > 2.9 {
					t.Errorf("somebody is off by %.2f turns over a million, by %.2f over less", whole, shorter)
				}
			}
		})
	}
}

// worst is the greatest distance from the exact share over stretches of a
// million turns, and over the whole million. An item's distance falls between
// its turns and jumps at them, so both ends of a jump are looked at.
func worst(s *Sequence[int], weights []uint64) (stretch, whole float64) {
	const turns = 1_000_000
	total := float64(sum(weights))
	counts := make([]float64, len(weights))
	low, high := make([]float64, len(weights)), make([]float64, len(weights))
	for turn := range turns {
		i := s.Next()
		share := float64(weights[i]) / total
		low[i] = min(low[i], counts[i]-float64(turn)*share)
		counts[i]++
		high[i] = max(high[i], counts[i]-float64(turn+1)*share)
	}
	for i, w := range weights {
		off := counts[i] - turns*float64(w)/total
		low[i] = min(low[i], off)
		stretch = max(stretch, high[i]-low[i])
		whole = max(whole, math.Abs(off))
	}
	return stretch, whole
}

// TestSmallSharesAreExactInTheLongRun: an item that is due once in a billion
// turns must not starve, nor come early each time.
func TestSmallSharesAreExactInTheLongRun(t *testing.T) {
	const seldom = 1000 // of 2^21 rounds
	weights := []uint64{math.MaxInt32, seldom}
	s := sequence(weights, nil)
	length := float64(len(s.table))
	count := 0
	for round := range uint64(1) << 21 {
		for place := range len(s.floats.first) - 1 {
			if s.floats.owner(place, round) == 1 {
				count++
			}
		}
	}
	want := (1 << 21) * length * seldom / (math.MaxInt32 + seldom)
	if math.Abs(float64(count)-want) > 4 {
		t.Errorf("%d turns in %d rounds, want %.1f", count, 1<<21, want)
	}
}

// TestScheduleKeepsToTheShares: up to any place everybody has their share to
// within one.
func TestScheduleKeepsToTheShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.SliceOfN(rapid.OneOf(rapid.Uint64Range(0, 3), rapid.Uint64Range(0, 300)), 1, 60).
			Filter(func(c []uint64) bool { return sum(c) > 0 }).Draw(t, "counts")
		length := sum(counts)
		done := make([]uint64, len(counts))
		for place, i := range schedule(counts, length) {
			done[i]++
			for i, c := range counts {
				if off := float64(done[i]) - float64(c)*float64(place+1)/float64(length); math.Abs(off) >= 1 {
					t.Fatalf("item %d of %d places is off by %.2f at %d of %d", i, c, off, place+1, length)
				}
			}
		}
	})
}

func TestDivisor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		by := rapid.Uint64Range(1, 1<<22).Draw(t, "by")
		x := rapid.Uint64().Draw(t, "x")
		if q, r := newDivisor(by).divide(x); q != x/by || r != x%by {
			t.Fatalf("%d / %d = %d rest %d", x, by, q, r)
		}
	})
}
