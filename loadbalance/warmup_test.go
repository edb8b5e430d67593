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

// warmingSet is a live list in which the last instance warms up.
func warmingSet(born time.Time, warmUp time.Duration, weights ...int) *live.Set {
	set := liveSet(1, weights...)
	last := set.Nodes[len(set.Nodes)-1]
	last.WarmUp = &live.WarmUp{Born: born, Takes: warmUp}
	return set
}

// TestShareGrowsWhileWarmingUp: linearly, also of a weight of 1 and of weights
// that are not counted, until it is what the weight is. Nobody's else suffers.
func TestShareGrowsWhileWarmingUp(t *testing.T) {
	for _, policy := range []string{Random, WeightedRandom, RoundRobin, SmoothWRR} {
		t.Run(policy, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				view := &live.View{}
				live.Enter("warm", view)
				defer live.Leave("warm", view)
				view.Publish(warmingSet(time.Now(), 20*time.Second, 1, 1, 1))
				b := mustNew(t, policy)
				res := result("warm")
				for _, age := range []time.Duration{0, 5 * time.Second, 10 * time.Second, 15 * time.Second, 20 * time.Second, 60 * time.Second} {
					time.Sleep(age - sleptIn(t, view))
					synctest.Wait()
					warmth := math.Max(0.01, math.Min(1, age.Seconds()/20))
					counts := shares(t, b, res, 20000)
					testShares(t, policy, counts, 1/(2+warmth), 1/(2+warmth), warmth/(2+warmth))
				}
				view.Close()
				synctest.Wait()
			})
		})
	}
}

// sleptIn is how long ago the last instance was born.
func sleptIn(t *testing.T, view *live.View) time.Duration {
	t.Helper()
	nodes := view.Load().Nodes
	return time.Since(nodes[len(nodes)-1].WarmUp.Born)
}

// TestKeysStayWhileWarmingUp, unless growing into them is wanted: then keys only
// ever move to who warms up.
func TestKeysStayWhileWarmingUp(t *testing.T) {
	for _, policy := range []string{ConsistentHash, Maglev} {
		t.Run(policy, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				view := &live.View{}
				live.Enter("warm", view)
				defer live.Leave("warm", view)
				view.Publish(warmingSet(time.Now(), 20*time.Second, 10, 10, 10))
				grows := mustNew(t, policy, WithHashWarmUp())
				stays := mustNew(t, policy)
				res := result("warm")
				first := shares(t, stays, res, 5000)
				before := 0
				for range 5 {
					if got := shares(t, stays, res, 5000); fmt.Sprint(got) != fmt.Sprint(first) {
						t.Errorf("keys move though that is not wanted: %v, %v", first, got)
					}
					got := shares(t, grows, res, 5000)["i2:80"]
					if got <= before {
						t.Errorf("%d keys after %v, %d before", got, sleptIn(t, view), before)
					}
					before = got
					time.Sleep(5 * time.Second)
					synctest.Wait()
				}
				if want := first["i2:80"]; before != want {
					t.Errorf("%d keys when warm, want %d", before, want)
				}
				view.Close()
				synctest.Wait()
			})
		})
	}
}

func TestStateShowsTheEffectiveWeight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		view := &live.View{}
		live.Enter("warm", view)
		defer live.Leave("warm", view)
		view.Publish(warmingSet(time.Now(), 20*time.Second, 4, 4))
		b := mustNew(t, SmoothWRR)
		_ = call(t.Context(), b, result("warm"))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		i := b.State()[0].Instances[1]
		if i.Weight != 4 || math.Abs(i.Effective-2) > 0.05 || math.Abs(i.Share-1./3) > 0.01 {
			t.Errorf("state %+v at half time", i)
		}
		view.Close()
		synctest.Wait()
	})
}
