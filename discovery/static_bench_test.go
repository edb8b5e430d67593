// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"fmt"
	"testing"
)

// BenchmarkStatic is one change that nobody follows: with followers, what their
// tables take to build comes on top.
func BenchmarkStatic(b *testing.B) {
	for _, n := range []int{10, 1000, 10_000} {
		s := NewStatic()
		address := func(i int) string { return fmt.Sprintf("10.0.%d.%d:8888", i/250, i%250) }
		for i := range n {
			if err := s.Add(address(i), 10); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(fmt.Sprintf("change=weight/n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			weight := 10
			for b.Loop() {
				weight ^= 1
				if err := s.SetWeight(address(n/2), weight); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("change=join_and_leave/n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := s.Add("10.1.0.1:8888", 10); err != nil {
					b.Fatal(err)
				}
				if err := s.Remove("10.1.0.1:8888"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
