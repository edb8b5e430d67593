// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package leastactive

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

var sizes = []int{3, 10, 100, 1000, 10_000}

type runtimeSource struct{}

func (runtimeSource) Uint64() uint64 { return rand.Uint64() }

func mixedEntries(n int) []Entry[*int] {
	leaves := make([]Leaf[*int], n)
	entries := make([]Entry[*int], n)
	for i := range entries {
		entries[i] = Entry[*int]{Leaf: &leaves[i], Value: new(int), Weight: uint64(1 + i*37%100)}
	}
	return entries
}

// BenchmarkPick chooses and releases, with the random number. Most items tie.
func BenchmarkPick(b *testing.B) {
	for _, n := range sizes {
		var tree Tree[*int]
		tree.Reset(mixedEntries(n))
		once := func() {
			_, leaf, _ := tree.Acquire(runtimeSource{}, nil)
			tree.Release(leaf)
		}
		b.Run(fmt.Sprintf("n=%d/serial", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				once()
			}
		})
		b.Run(fmt.Sprintf("n=%d/parallel", n), func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					once()
				}
			})
		})
	}
}

// BenchmarkPickBusy keeps two calls an item in flight and releases the oldest.
func BenchmarkPickBusy(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("n=%d/serial", n), func(b *testing.B) {
			var tree Tree[*int]
			tree.Reset(mixedEntries(n))
			inFlight := make([]*Leaf[*int], 2*n)
			for i := range inFlight {
				_, inFlight[i], _ = tree.Acquire(runtimeSource{}, nil)
			}
			rand.Shuffle(len(inFlight), func(i, j int) { inFlight[i], inFlight[j] = inFlight[j], inFlight[i] })
			oldest := 0
			b.ReportAllocs()
			for b.Loop() {
				tree.Release(inFlight[oldest])
				_, inFlight[oldest], _ = tree.Acquire(runtimeSource{}, nil)
				if oldest++; oldest == len(inFlight) {
					oldest = 0
				}
			}
		})
	}
}

func BenchmarkReset(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			var tree Tree[*int]
			entries := mixedEntries(n)
			b.ReportAllocs()
			for b.Loop() {
				tree.Reset(entries)
			}
		})
	}
}
