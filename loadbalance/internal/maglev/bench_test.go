// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package maglev

import (
	"fmt"
	"slices"
	"testing"
)

var fleetSizes = []int{3, 10, 100, 1000, 10_000}

// BenchmarkPick looks random hashes up.
func BenchmarkPick(b *testing.B) {
	for _, n := range fleetSizes {
		r := New(mixed(n), nil)
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

// BenchmarkNew builds tables anew, and after changes of one item.
func BenchmarkNew(b *testing.B) {
	for _, n := range fleetSizes {
		items := mixed(n)
		before := New(items, nil)
		drained := slices.Clone(items)
		drained[n/2].Serving = false
		for _, c := range []struct {
			name  string
			items []Item[string]
			prev  *Table[string]
		}{
			{"full", items, nil},
			{"drain", drained, before},
			{"same", items, before},
		} {
			b.Run(fmt.Sprintf("change=%s/n=%d", c.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_ = New(c.items, c.prev)
				}
			})
		}
	}
}
