// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package loadbalance

import (
	"fmt"
	"testing"

	"github.com/fairway-rpc/fairway/internal/pick"
)

// TestPickAllocatesNothing is about Kitex's whole path of an attempt: GetPicker,
// Next, Recycle. The race detector changes what allocates.
func TestPickAllocatesNothing(t *testing.T) {
	for _, policy := range Policies() {
		for _, n := range []int{3, 100, 1000} {
			t.Run(fmt.Sprintf("%s/%d", policy, n), func(t *testing.T) {
				b := mustNew(t, policy)
				res := result("r", mixedWeights(n)...)
				ctx := withKey(t.Context(), "some key")
				_ = call(ctx, b, res)
				if n > 3 { // one of many is aside, and the table built without it
					s := b.core.find("r")
					s.nodes["i1:80"].Done(pick.NoConnection, 0, false)
					waitFor(t, "the table is without it", func() bool { return s.table.Load().at("i1:80").out })
				}
				if allocs := testing.AllocsPerRun(1000, func() { _ = call(ctx, b, res) }); allocs != 0 {
					t.Errorf("%v allocations per pick", allocs)
				}
			})
		}
	}
}
