// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"context"
	"fmt"
	"testing"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	kloadbalance "github.com/cloudwego/kitex/pkg/loadbalance"
)

func mixedWeights(n int) []int {
	weights := make([]int, n)
	for i := range weights {
		weights[i] = 1 + (i*37)%100
	}
	return weights
}

// BenchmarkPick measures Kitex's whole path of an attempt (GetPicker, Next,
// Recycle), Kitex's own balancers beside ours.
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
		for _, n := range []int{3, 100, 1000} {
			res := result("r", mixedWeights(n)...)
			b.Run(fmt.Sprintf("policy=%s/n=%d/serial", balancer.name, n), func(b *testing.B) {
				benchmarkSerial(b, balancer.lb(b), res)
			})
			b.Run(fmt.Sprintf("policy=%s/n=%d/parallel", balancer.name, n), func(b *testing.B) {
				benchmarkParallel(b, balancer.lb(b), res)
			})
		}
	}
}

func kitexHash() kloadbalance.Loadbalancer {
	option := kloadbalance.NewConsistentHashOption(keyOf)
	option.VirtualFactor, option.Weighted = 160, false
	return kloadbalance.NewConsistBalancer(option)
}

func benchmarkSerial(b *testing.B, lb kloadbalance.Loadbalancer, res kdiscovery.Result) {
	ctx := withKey(context.Background(), "some key")
	_ = call(ctx, lb, res)
	b.ReportAllocs()
	for b.Loop() {
		_ = pickOnce(ctx, lb, res)
	}
}

func benchmarkParallel(b *testing.B, lb kloadbalance.Loadbalancer, res kdiscovery.Result) {
	ctx := withKey(context.Background(), "some key")
	_ = call(ctx, lb, res)
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			_ = pickOnce(ctx, lb, res)
		}
	})
}

func pickOnce(ctx context.Context, lb kloadbalance.Loadbalancer, res kdiscovery.Result) kdiscovery.Instance {
	p := lb.GetPicker(res)
	instance := p.Next(ctx, nil)
	recycle(p)
	return instance
}
