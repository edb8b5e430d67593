// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package loadbalance_test

import (
	"math"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"

	"github.com/fairway-rpc/fairway/loadbalance"
)

// TestWeightsFarApart: a weight of 1 beside the largest one. Sums do not overflow,
// and what a balancer keeps does not grow with weights, nor with changes; a full
// ring is what its documentation allows. It runs alone, since it measures the
// heap, in time of its own, since some things are built a while after a change; the race detector has memory
// of its own.
func TestWeightsFarApart(t *testing.T) {
	for _, policy := range loadbalance.Policies() {
		t.Run(policy+"/2", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testFarApart(t, policy, []int{1, math.MaxInt32}) })
		})
		if !rings[policy] { // they take their time, and have as many points for any number
			t.Run(policy+"/100", func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { testFarApart(t, policy, farApart(100)) })
			})
		}
	}
}

// rings are the policies that have a ring.
var rings = map[string]bool{loadbalance.ConsistentHash: true, loadbalance.BoundedHash: true, loadbalance.SourceHash: true}

// farApart has every tenth instance of weight 1.
func farApart(n int) []int {
	weights := slices.Repeat([]int{math.MaxInt32}, n)
	for i := 0; i < n; i += 10 {
		weights[i] = 1
	}
	return weights
}

func testFarApart(t *testing.T, policy string, weights []int) {
	res := weighed(weights...)
	before := heap()
	lb := newRandomKeys(t, policy)
	const picks = 20_000
	checkFarApart(t, policy, weights, picksOf(t, lb, res, picks), picks)
	changes, limit := 6, 1.0
	if rings[policy] {
		changes, limit = 1, 32
	}
	for range changes {
		slices.Reverse(weights)
		res = weighed(weights...)
		lb.Rebalance(kdiscovery.Change{Result: res})
		checkFarApart(t, policy, weights, picksOf(t, lb, res, picks/10), picks/10)
		time.Sleep(time.Second) // in the bubble's time
	}
	keeps := float64(heap()-before) / (1 << 20)
	t.Logf("keeps %.3f MiB", keeps)
	if keeps > limit {
		t.Errorf("the balancer keeps %.2f MiB, want at most %v", keeps, limit)
	}
	checkFarApart(t, policy, weights, picksOf(t, lb, res, picks), picks)
	runtime.KeepAlive(lb)
}

// heap is how much is in use.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what the first has left to pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// checkFarApart checks that all picks but a few go to the heavy ones, evenly; or to
// all, where weights do not count.
func checkFarApart(t *testing.T, policy string, weights, counts []int, picks int) {
	t.Helper()
	heavy := 0
	for _, weight := range weights {
		if weight > 1 {
			heavy++
		}
	}
	for at, n := range counts {
		want := float64(picks) / float64(heavy)
		switch {
		case unweighing[policy]:
			want = float64(picks) / float64(len(weights))
		case weights[at] == 1:
			want = 0
		}
		// Six standard deviations, some for how even a hash is, and one round.
		if got := float64(n); math.Abs(got-want) > 6*math.Sqrt(want)+0.1*want+2 {
			t.Errorf("instance %d of weight %d got %v of %d picks, want about %.0f", at, weights[at], got, picks, want)
		}
	}
}
