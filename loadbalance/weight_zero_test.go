// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package loadbalance_test

import (
	"testing"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"

	"github.com/fairway-rpc/fairway/loadbalance"
)

// numbered is an instance that knows its place.
type numbered struct {
	kdiscovery.Instance

	at int
}

// weighed is a list of instances of these weights.
func weighed(weights ...int) kdiscovery.Result {
	res := kdiscovery.Result{Cacheable: true, CacheKey: "r"}
	for i, weight := range weights {
		address := string(rune('a'+i)) + ":1"
		res.Instances = append(res.Instances, numbered{Instance: kdiscovery.NewInstance("tcp", address, weight, nil), at: i})
	}
	return res
}

// TestNoneOfAMillionPicksGoesToWeight0: half of them after a change has taken one
// instance's weight, and given another one its first. One goroutine picks, so that
// the race detector has nothing to find.
func TestNoneOfAMillionPicksGoesToWeight0(t *testing.T) {
	t.Parallel()
	for _, policy := range loadbalance.Policies() {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			lb := newRandomKeys(t, policy)
			checkDrained(t, lb, weighed(0, 5, 3, 0, 7), 0, 3)
			next := weighed(2, 5, 0, 0, 7)
			lb.Rebalance(kdiscovery.Change{Result: next})
			checkDrained(t, lb, next, 2, 3)
		})
	}
}

// checkDrained picks half a million times.
func checkDrained(t *testing.T, lb *loadbalance.Balancer, res kdiscovery.Result, drained ...int) {
	t.Helper()
	counts := picksOf(t, lb, res, 500_000)
	for _, at := range drained {
		if counts[at] != 0 {
			t.Errorf("%d picks went to %s, whose weight is 0; all: %v", counts[at], res.Instances[at].Address(), counts)
		}
		counts[at] = 1 << 30
	}
	for at, n := range counts {
		if n < 1000 {
			t.Errorf("only %d picks went to %s of weight %d", n, res.Instances[at].Address(), res.Instances[at].Weight())
		}
	}
}

// picksOf counts n picks by the places of the instances.
func picksOf(t *testing.T, lb *loadbalance.Balancer, res kdiscovery.Result, n int) []int {
	t.Helper()
	ctx, counts := t.Context(), make([]int, len(res.Instances))
	for range n {
		p := lb.GetPicker(res)
		counts[p.Next(ctx, nil).(numbered).at]++
		recycle(p)
	}
	return counts
}
