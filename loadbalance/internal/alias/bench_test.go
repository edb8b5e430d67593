// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package alias

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

var sizes = []int{10, 100, 1000, 10_000}

// pointers are items as the balancer has them.
func pointers(n int) []*uint64 {
	items := make([]*uint64, n)
	for i := range items {
		w := uint64(1 + i*37%100)
		items[i] = &w
	}
	return items
}

func weightOf(w *uint64) uint64 { return *w }

// BenchmarkPick includes the random number.
func BenchmarkPick(b *testing.B) {
	for _, n := range sizes {
		table := New(pointers(n), weightOf)
		b.Run(fmt.Sprintf("n=%d/serial", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = table.Pick(rand.Uint64())
			}
		})
		b.Run(fmt.Sprintf("n=%d/parallel", n), func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					_ = table.Pick(rand.Uint64())
				}
			})
		})
	}
}

func BenchmarkNew(b *testing.B) {
	for _, n := range sizes {
		items := pointers(n)
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = New(items, weightOf)
			}
		})
	}
}
