// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairway-rpc/fairway/internal/live"
)

// occupy begins calls on the instances, picked elsewhere.
func occupy(b *Balancer, key string, calls ...int) {
	s := b.core.find(key)
	for i, n := range calls {
		for range n {
			s.nodes[fmt.Sprintf("i%d:80", i)].Begin()
		}
	}
}

// TestFewestCallsOfAll: of those who have equally few, by weight.
func TestFewestCallsOfAll(t *testing.T) {
	b := mustNew(t, LeastActive, WithRand(LockedRand(1)))
	res := result("r", 1, 8, 3, 6, 5, 5, 4, 7, 2, 9)
	_ = call(t.Context(), b, res)
	occupy(b, "r", 2, 0, 1, 3, 0, 1, 4, 2, 7, 3)
	counts := shares(t, b, res, 13_000)
	if len(counts) != 2 {
		t.Fatalf("picked %v, want only the two without calls", counts)
	}
	second, fifth := float64(counts["i1:80"]), float64(counts["i4:80"])
	chi := (second-8000)*(second-8000)/8000 + (fifth-5000)*(fifth-5000)/5000
	if chi > 10.8 { // one degree of freedom, p = 0.001; the seed is fixed
		t.Errorf("%v and %v picks of weights 8 and 5: chi-square %.1f", second, fifth, chi)
	}
}

// TestIdleInstancesFillEvenly: calls that do not end go to everybody in turn.
func TestIdleInstancesFillEvenly(t *testing.T) {
	b := mustNew(t, LeastActive)
	res := result("r", 1, 1, 1, 1, 1, 1, 1, 1)
	counts := map[string]int{}
	for range 32 {
		counts[b.GetPicker(res).Next(t.Context(), nil).Address().String()]++
	}
	for address, n := range counts {
		if n != 4 {
			t.Errorf("%s has %d of 32 calls, want 4", address, n)
		}
	}
	if len(counts) != 8 {
		t.Errorf("%d instances have calls", len(counts))
	}
}

// TestCallsPerWeight: weights 1, 2 and 5 fill up to 10, 20 and 50 calls.
func TestCallsPerWeight(t *testing.T) {
	b := mustNew(t, LeastActive, WithPerWeight())
	res := result("r", 1, 2, 5)
	counts := map[string]int{}
	for range 80 {
		counts[b.GetPicker(res).Next(t.Context(), nil).Address().String()]++
	}
	if counts["i0:80"] != 10 || counts["i1:80"] != 20 || counts["i2:80"] != 50 {
		t.Errorf("calls %v, want 10, 20 and 50", counts)
	}
}

// TestColdInstanceIsNotFlooded: it has no calls yet, by which it would get the
// next ones until it has as many as the others.
func TestColdInstanceIsNotFlooded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		view := &live.View{}
		live.Enter("cold", view)
		defer live.Leave("cold", view)
		b := mustNew(t, LeastActive)
		res := result("cold")
		view.Publish(liveSet(1, 1, 1))
		for range 40 {
			_ = b.GetPicker(res).Next(t.Context(), nil)
		}
		view.Publish(warmingSet(time.Now(), 10*time.Second, 1, 1, 1))
		synctest.Wait()
		for _, age := range []float64{0, 5, 10} {
			time.Sleep(time.Duration(age*float64(time.Second)) - sleptIn(t, view))
			synctest.Wait()
			for range 60 {
				_ = b.GetPicker(res).Next(t.Context(), nil)
			}
			instances := b.State()[0].Instances
			warmth := math.Max(age/10, 0.01)
			cold, others := float64(instances[2].InFlight+1), float64(instances[0].InFlight+1)
			if off := math.Abs(cold - warmth*others); off > 1+warmth {
				t.Errorf("after %v s it has %v calls, the others %v", age, cold-1, others-1)
			}
		}
		view.Close()
		synctest.Wait()
	})
}
