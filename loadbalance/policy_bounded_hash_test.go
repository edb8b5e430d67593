// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"

	kloadbalance "github.com/cloudwego/kitex/pkg/loadbalance"
)

// TestBoundIsNeverExceeded: with calls that do not end nobody has more than the
// factor's share of them, rounded up, at any moment, whatever the keys.
func TestBoundIsNeverExceeded(t *testing.T) {
	for name, weights := range map[string][]int{"equal": {10, 10, 10, 10}, "mixed": {1, 5, 20, 50}} {
		t.Run(name, func(t *testing.T) {
			b := mustNew(t, BoundedHash, WithLoadFactor(1.5))
			res := result("r", weights...)
			ctx := withKey(t.Context(), "the one key that all have")
			all := 0
			for _, w := range weights {
				all += w
			}
			counts := map[string]int{}
			for n := 1; n <= 400; n++ {
				address := b.GetPicker(res).Next(ctx, nil).Address().String()
				counts[address]++
				for i, w := range weights {
					bound := int(math.Ceil(1.5 * float64(n) * float64(w) / float64(all)))
					if got := counts[fmt.Sprintf("i%d:80", i)]; got > bound {
						t.Fatalf("%d of %d calls at weight %d of %d, want at most %d", got, n, w, all, bound)
					}
				}
			}
		})
	}
}

// TestKeyStaysWithItsInstanceBelowTheBound is consistent hashing's own mapping.
func TestKeyStaysWithItsInstanceBelowTheBound(t *testing.T) {
	bounded, plain := mustNew(t, BoundedHash), mustNew(t, ConsistentHash)
	res := result("r", 10, 10, 5, 1)
	for i := range 500 {
		ctx := withKey(t.Context(), fmt.Sprint(i))
		if got, want := call(ctx, bounded, res), call(ctx, plain, res); got != want {
			t.Fatalf("key %d is with %s, on the plain ring with %s", i, got, want)
		}
	}
}

func TestBoundedCallsAreCountedToTheEnd(t *testing.T) {
	b := mustNew(t, BoundedHash)
	res := result("r", 3, 2, 1)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 5000 {
				var pickers [3]kloadbalance.Picker
				for k := range pickers {
					pickers[k] = b.GetPicker(res)
					if pickers[k].Next(withKey(context.Background(), fmt.Sprint(g, i, k)), nil) == nil {
						t.Error("nobody was picked")
					}
				}
				for _, p := range pickers {
					recycle(p)
				}
			}
		})
	}
	all.Wait()
	s := b.core.find("r")
	if total := s.engine.(*boundedHash).total.Load(); total != 0 {
		t.Errorf("%d calls in all when none is under way", total)
	}
	for address, n := range s.nodes {
		if n.active() != 0 {
			t.Errorf("%d calls at %s", n.active(), address)
		}
	}
}
