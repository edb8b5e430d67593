// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"testing"

	"github.com/fairway-rpc/fairway/internal/live"
)

// TestSettledChangeIsSeenByTheNextPick: at once, whether or not the goroutine
// that builds tables has run.
func TestSettledChangeIsSeenByTheNextPick(t *testing.T) {
	for _, policy := range Policies() {
		t.Run(policy, func(t *testing.T) {
			key := live.Key("resolver", t.Name())
			view := &live.View{}
			view.Publish(liveSet(0, 1))
			live.Enter(key, view)
			defer live.Leave(key, view)
			b := mustNew(t, policy)
			ctx := withKey(t.Context(), "k")
			if got := call(ctx, b, result(key)); got != "i0:80" {
				t.Fatalf("picked %q", got)
			}
			for n := range 100 {
				weights, want := []int{0, 1}, "i1:80"
				if n%2 == 0 {
					weights, want = []int{1, 0}, "i0:80"
				}
				view.Publish(liveSet(int64(n), weights...))
				view.Settle()
				if got := call(ctx, b, result(key)); got != want {
					t.Fatalf("after change %d: picked %q, want %q", n, got, want)
				}
			}
		})
	}
}
