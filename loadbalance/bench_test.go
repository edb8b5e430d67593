// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	kloadbalance "github.com/cloudwego/kitex/pkg/loadbalance"

	"github.com/fairway-rpc/fairway/internal/pick"
)

func mixedWeights(n int) []int {
	weights := make([]int, n)
	for i := range weights {
		weights[i] = 1 + (i*37)%100
	}
	return weights
}

// BenchmarkPick measures Kitex's whole path of an attempt (GetPicker, Next,
// Recycle), Kitex's own balancers beside ours. Policies that hash get a new key
// each time.
func BenchmarkPick(b *testing.B) {
	type balancer struct {
		name string
		lb   func(*testing.B) kloadbalance.Loadbalancer
	}
	balancers := []balancer{
		{"kitex-alias", func(*testing.B) kloadbalance.Loadbalancer {
			return kloadbalance.NewWeightedRandomWithAliasMethodBalancer()
		}},
		{"kitex-wrr", func(*testing.B) kloadbalance.Loadbalancer { return kloadbalance.NewWeightedRoundRobinBalancer() }},
		{"kitex-hash", func(*testing.B) kloadbalance.Loadbalancer { return kitexHash() }},
	}
	for _, policy := range Policies() {
		balancers = append(balancers, balancer{policy, func(b *testing.B) kloadbalance.Loadbalancer { return mustNew(b, policy) }})
	}
	for _, balancer := range balancers {
		calls := callsOf(balancer.name)
		for _, n := range []int{3, 100, 1000, 10000} {
			res := result("r", mixedWeights(n)...)
			b.Run(fmt.Sprintf("policy=%s/n=%d/serial", balancer.name, n), func(b *testing.B) {
				benchmarkSerial(b, balancer.lb(b), res, calls)
			})
			b.Run(fmt.Sprintf("policy=%s/n=%d/parallel", balancer.name, n), func(b *testing.B) {
				benchmarkParallel(b, balancer.lb(b), res, calls)
			})
		}
	}
}

func kitexHash() kloadbalance.Loadbalancer {
	option := kloadbalance.NewConsistentHashOption(keyOf)
	option.VirtualFactor, option.Weighted = 160, false
	return kloadbalance.NewConsistBalancer(option)
}

// callsOf are the contexts of the calls, as many as a power of two.
func callsOf(policy string) []context.Context {
	if !strings.Contains(policy, "hash") && policy != Maglev {
		return []context.Context{context.Background()}
	}
	var calls []context.Context
	for i := range 1024 {
		calls = append(calls, withKey(context.Background(), fmt.Sprintf("user-%d", i)))
	}
	return calls
}

func benchmarkSerial(b *testing.B, lb kloadbalance.Loadbalancer, res kdiscovery.Result, calls []context.Context) {
	_ = call(calls[0], lb, res)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		_ = pickOnce(calls[i&(len(calls)-1)], lb, res)
	}
}

func benchmarkParallel(b *testing.B, lb kloadbalance.Loadbalancer, res kdiscovery.Result, calls []context.Context) {
	_ = call(calls[0], lb, res)
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for i := rand.IntN(len(calls)); pb.Next(); i++ {
			_ = pickOnce(calls[i&(len(calls)-1)], lb, res)
		}
	})
}

func pickOnce(ctx context.Context, lb kloadbalance.Loadbalancer, res kdiscovery.Result) kdiscovery.Instance {
	p := lb.GetPicker(res)
	instance := p.Next(ctx, nil)
	recycle(p)
	return instance
}

// BenchmarkPickInCall is BenchmarkPick within a Kitex call, which a pick looks
// into for what a retry must avoid: once alone, and once as the suite of package
// middleware uses the balancer.
func BenchmarkPickInCall(b *testing.B) {
	res := result("r", mixedWeights(100)...)
	ctx := attempt(context.Background(), nil, nil)
	for _, policy := range []string{WeightedRandom, SmoothWRR, LeastActive} {
		b.Run(policy+"/alone", func(b *testing.B) { benchmarkSerial(b, mustNew(b, policy), res, []context.Context{ctx}) })
		b.Run(policy+"/suite", func(b *testing.B) {
			benchmarkSerial(b, observed(b, policy), res, []context.Context{pick.Begin(ctx)})
		})
	}
}

// BenchmarkPickByMany is a thousand callers of twenty instances.
func BenchmarkPickByMany(b *testing.B) {
	res := result("r", mixedWeights(20)...)
	for _, policy := range Policies() {
		b.Run("policy="+policy, func(b *testing.B) {
			b.SetParallelism(1000 / runtime.GOMAXPROCS(0))
			benchmarkParallel(b, mustNew(b, policy), res, callsOf(policy))
		})
	}
}
