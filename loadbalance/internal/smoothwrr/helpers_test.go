// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package smoothwrr

import (
	"math"
	"math/rand/v2"
	"strings"
)

// sequence makes one of the items 0, 1, 2, ...
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

func sum(weights []uint64) (total uint64) {
	for _, w := range weights {
		total += w
	}
	return total
}

func repeat(n int, weight func(i int) uint64) []uint64 {
	weights := make([]uint64, n)
	for i := range weights {
		weights[i] = weight(i)
	}
	return weights
}

func random(source *rand.Rand, n int) []uint64 {
	return repeat(n, func(int) uint64 { return source.Uint64N(math.MaxInt32) + 1 })
}

func mixed(n int) []uint64 {
	return repeat(n, func(i int) uint64 { return uint64(1 + i*37%100) })
}

// nginx carries out the steps of nginx's source, turn by turn.
type nginx struct {
	weights []uint64
	current []int64
}

func (n *nginx) next() int {
	best := -1
	for i, w := range n.weights {
		n.current[i] += int64(w)
		if w > 0 && (best < 0 || n.current[i] > n.current[best]) {
			best = i
		}
	}
	n.current[best] -= int64(sum(n.weights))
	return best
}
