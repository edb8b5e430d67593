// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package smoothwrr

import (
	"fmt"
	"testing"
)

// orders are weights whose order is found in each of the ways; those of 1 to
// 100 have nginx's cycle up to some hundred items.
var orders = map[string]func(n int) []uint64{
	"equal": func(n int) []uint64 { return repeat(n, func(int) uint64 { return 10 }) },
	"mixed": mixed,
}

// BenchmarkPick takes turns.
func BenchmarkPick(b *testing.B) {
	for _, name := range []string{"equal", "mixed"} {
		for _, n := range []int{10, 100, 1000, 10_000} {
			s := sequence(orders[name](n), nil)
			b.Run(fmt.Sprintf("weights=%s/n=%d/serial", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_ = s.Next()
				}
			})
			b.Run(fmt.Sprintf("weights=%s/n=%d/parallel", name, n), func(b *testing.B) {
				b.ReportAllocs()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						_ = s.Next()
					}
				})
			})
		}
	}
}

// BenchmarkNew includes the longest cycles that are computed.
func BenchmarkNew(b *testing.B) {
	for name, weights := range map[string][]uint64{
		"n=2/bound": {1<<21 - 1, 1},
		"n=10":      mixed(10),
		"n=100":     mixed(100),
		"n=250":     mixed(250),
		"n=1000":    mixed(1000),
		"n=10000":   mixed(10_000),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = sequence(weights, nil)
			}
		})
	}
}
