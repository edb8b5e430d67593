// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package smoothwrr

import "testing"

func TestNextAllocatesNothing(t *testing.T) {
	for name, weights := range map[string][]uint64{"list": {3, 3}, "cycle": mixed(10), "spread": mixed(1000), "nobody": nil} {
		s := sequence(weights, nil)
		if allocs := testing.AllocsPerRun(1000, func() { _ = s.Next() }); allocs != 0 {
			t.Errorf("%s: %v allocations a turn", name, allocs)
		}
	}
}
