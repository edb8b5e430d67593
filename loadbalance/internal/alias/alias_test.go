// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package alias

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func identity(w uint64) uint64 { return w }

// exact adds up each item's probability from the rows themselves.
func exact(t *Table[int], n int) []float64 {
	p := make([]float64, n)
	if t.Len() == 0 {
		return p
	}
	for _, row := range t.rows {
		own := float64(row.threshold) / math.Exp2(64)
		p[row.items[0]] += own / float64(len(t.rows))
		p[row.items[1]] += (1 - own) / float64(len(t.rows))
	}
	return p
}

func TestProbabilitiesAreTheWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.OneOf(rapid.Uint64Range(0, 5), rapid.Uint64Range(0, math.MaxInt32)), 0, 300).Draw(t, "weights")
		items := make([]int, len(weights))
		total := 0.0
		for i, w := range weights {
			items[i] = i
			total += float64(w)
		}
		table := New(items, func(i int) uint64 { return weights[i] })
		for i, p := range exact(table, len(weights)) {
			want := 0.0
			if total > 0 {
				want = float64(weights[i]) / total
			}
			if math.Abs(p-want) > 1e-12 {
				t.Fatalf("item %d of weight %d has the probability %v, want %v", i, weights[i], p, want)
			}
		}
	})
}

func TestDrawsFitTheProbabilities(t *testing.T) {
	weights := []uint64{1, 2, 3, 10, 50, 100, 7, 0, 23, 4}
	table := New([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, func(i int) uint64 { return weights[i] })
	source := rand.New(rand.NewPCG(1, 2))
	const draws = 1_000_000
	counts := make([]float64, len(weights))
	for range draws {
		counts[table.Pick(source.Uint64())]++
	}
	chi := 0.0
	for i, w := range weights {
		want := draws * float64(w) / 200
		if w == 0 {
			if counts[i] > 0 {
				t.Errorf("weight 0 was drawn %v times", counts[i])
			}
			continue
		}
		chi += (counts[i] - want) * (counts[i] - want) / want
	}
	if chi > 26.1 { // 8 degrees of freedom, p = 0.001; the seed is fixed
		t.Errorf("chi-square %v: draws %v do not fit %v", chi, counts, weights)
	}
}

func TestExtremes(t *testing.T) {
	for name, weights := range map[string][]uint64{"empty": nil, "weight 0": {0, 0}} {
		nobody := New(weights, identity)
		if nobody.Pick(math.MaxUint64) != 0 || nobody.Len() != 0 {
			t.Errorf("%s: a table of nobody gave an item", name)
		}
	}
	heavy := make([]uint64, 1<<16)
	for i := range heavy {
		heavy[i] = math.MaxInt32
	}
	table := New(heavy, identity)
	if hi, _ := bits.Mul64(math.MaxUint64, uint64(table.Len())); hi != 1<<16-1 || table.Pick(math.MaxUint64) != math.MaxInt32 {
		t.Error("the last row is not reached")
	}
	one := New([]uint64{0, 7, 0}, identity)
	for _, r := range []uint64{0, 1, 1 << 63, math.MaxUint64} {
		if one.Pick(r) != 7 {
			t.Error("the only item of a weight was not drawn")
		}
	}
}
