// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package alias

import "testing"

func TestPickAllocatesNothing(t *testing.T) {
	table := New([]uint64{1, 2, 3}, identity)
	r := uint64(0)
	if allocs := testing.AllocsPerRun(1000, func() {
		r += 0x9e3779b97f4a7c15
		_ = table.Pick(r)
	}); allocs != 0 {
		t.Errorf("%v allocations a draw", allocs)
	}
}
