// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package hashring

import (
	"fmt"
	"slices"
	"testing"
)

var sizes = []int{10, 100, 1000, 10_000}

// BenchmarkPick looks random hashes up.
func BenchmarkPick(b *testing.B) {
	for _, n := range sizes {
		r := ring(fleet("10.0", n, 10)...)
		b.Run(fmt.Sprintf("n=%d/serial", n), func(b *testing.B) {
			b.ReportAllocs()
			h := uint64(0)
			for b.Loop() {
				h += 0x9e3779b97f4a7c15
				_ = r.Lookup(h)
			}
		})
		b.Run(fmt.Sprintf("n=%d/parallel", n), func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				h := uint64(0)
				for pb.Next() {
					h += 0x9e3779b97f4a7c15
					_ = r.Lookup(h)
				}
			})
		})
	}
}

func BenchmarkHash(b *testing.B) {
	for b.Loop() {
		_ = Hash("user-1234567890")
	}
}

// BenchmarkNew builds rings anew, and after changes of one item.
func BenchmarkNew(b *testing.B) {
	for _, n := range sizes {
		items := fleet("10.0", n, 10)
		before := ring(items...)
		drained := slices.Clone(items)
		drained[n/2].Serving = false
		heavier := slices.Clone(items)
		heavier[n/2].Weight = 11
		for _, c := range []struct {
			name  string
			items []Item[string]
			prev  *Ring[string]
		}{
			{"full", items, nil},
			{"join", append(slices.Clone(items), item("10.0.9.9:1", 10)), before},
			{"leave", items[1:], before},
			{"weight", heavier, before},
			{"drain", drained, before},
			{"same", items, before},
		} {
			b.Run(fmt.Sprintf("change=%s/n=%d", c.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_ = New(c.items, DefaultVirtualNodes, c.prev)
				}
			})
		}
	}
}
