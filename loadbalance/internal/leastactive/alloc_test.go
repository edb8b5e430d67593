// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package leastactive

import "testing"

func TestPickAllocatesNothing(t *testing.T) {
	var tree Tree[*int]
	entries := mixedEntries(100)
	tree.Reset(entries)
	other := func(v *int) bool { return v == entries[0].Value || v == entries[37].Value }
	for name, skip := range map[string]func(*int) bool{"pick": nil, "retry": other} {
		if allocs := testing.AllocsPerRun(1000, func() {
			_, leaf, _ := tree.Acquire(runtimeSource{}, skip)
			tree.Release(leaf)
			tree.AcquireLeaf(leaf)
			tree.Release(leaf)
		}); allocs != 0 {
			t.Errorf("%s: %v allocations", name, allocs)
		}
	}
}
