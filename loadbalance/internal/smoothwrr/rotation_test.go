// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package smoothwrr

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestAnyMillionTurnsAreExact: above the bound of nginx's cycle everybody has
// the exact share of any million turns, give or take two, and of any shorter
// stretch, give or take seven.
func TestAnyMillionTurnsAreExact(t *testing.T) {
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
			if s.table != nil || s.Provisional() {
				t.Fatal("the weights have a cycle")
			}
			for range 2 {
				s.count.turns.Store(source.Uint64())
				if shorter, whole := worst(s, weights); shorter > 7 || whole > 2 {
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

// TestNoArcIsHitTooOften holds the step against what its comment says, for the
// arc that fares worst of all arcs there are, wherever the turns begin.
func TestNoArcIsHitTooOften(t *testing.T) {
	for turns, bound := range map[int]float64{10: 3, 100: 3.6, 1000: 3.6, 10_000: 5, 100_000: 5.5, 229_574: 7, 779_304: 7, 1_000_000: 1.5} {
		points := make([]uint64, turns)
		for i := range points {
			points[i] = uint64(i) * step
		}
		slices.Sort(points)
		most, least := 0.0, 0.0
		for i, p := range points {
			expected := float64(turns) * float64(p) / (1 << 64)
			most = max(most, float64(i+1)-expected)
			least = min(least, float64(i)-expected)
		}
		if off := most - least; off > bound {
			t.Errorf("over %d turns some arc is off by %.2f, want at most %.2f", turns, off, bound)
		}
	}
}

// TestSmallSharesAreExactInTheLongRun: an item that is due once in four million
// turns must not starve, nor come early each time.
func TestSmallSharesAreExactInTheLongRun(t *testing.T) {
	const turns = 1 << 24
	weights := []uint64{1 << 22, 1}
	r := newRotation(weights, sum(weights))
	count := 0
	for turn := range uint64(turns) {
		count += int(r.owner(turn))
	}
	if count < 3 || count > 5 {
		t.Errorf("%d turns, want 4", count)
	}
}

// TestOwnerHasTheArc compares with a walk along the circle.
func TestOwnerHasTheArc(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.OneOf(rapid.Uint64Range(1, 3), rapid.Uint64Range(1, math.MaxInt32)), 1, 40).Draw(t, "weights")
		r := newRotation(weights, sum(weights))
		for range 50 {
			turn := rapid.Uint64().Draw(t, "turn")
			at := float64(turn*step) / (1 << 64) * float64(sum(weights))
			owner := r.owner(turn)
			from := float64(sum(weights[:owner]))
			if slack := 1e-6 * float64(sum(weights)); at < from-slack || at > from+float64(weights[owner])+slack {
				t.Fatalf("weights %v: %d has turn %d at %.2f, its arc is %.0f long from %.0f", weights, owner, turn, at, float64(weights[owner]), from)
			}
		}
	})
}

func TestFractions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.OneOf(rapid.Uint64Range(2, 1<<56), rapid.Map(rapid.Uint64Range(1, 56), func(n uint64) uint64 { return 1 << n })).Draw(t, "total")
		sum := rapid.Uint64Range(1, total-1).Draw(t, "sum")
		want, _ := bits.Div64(sum, 0, total)
		if got := newFractions(total).of(sum); got > want || want-got > 4 {
			t.Fatalf("%d of %d is %#x, want %#x", sum, total, got, want)
		}
	})
}

func TestRemainder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		by := rapid.Uint64Range(1, 1<<50).Draw(t, "by")
		x := rapid.Uint64().Draw(t, "x")
		if r := newDivisor(by).remainder(x); r != x%by {
			t.Fatalf("%d modulo %d = %d", x, by, r)
		}
	})
}
