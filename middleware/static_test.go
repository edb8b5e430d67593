// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/loadbalance"
)

// follow is a list that a balancer uses, and a function that picks.
func follow(tb testing.TB, policy string, n int) (*discovery.Static, func() string) {
	tb.Helper()
	s := discovery.NewStatic()
	tb.Cleanup(func() { _ = s.Close() })
	for i := range n {
		if err := s.Add(fmt.Sprintf("10.0.%d.%d:8888", i/250, i%250), 10); err != nil {
			tb.Fatal(err)
		}
	}
	lb, err := loadbalance.New(policy, loadbalance.WithKey(func(context.Context, any) string { return "key" }))
	if err != nil {
		tb.Fatal(err)
	}
	var res kdiscovery.Result
	if res, err = s.Resolve(tb.Context(), "echo"); err != nil {
		tb.Fatal(err)
	}
	res.CacheKey = s.Name() + ":" + res.CacheKey // as Kitex hands it over
	pick := func() string {
		p := lb.GetPicker(res)
		if r, ok := p.(interface{ Recycle() }); ok {
			defer r.Recycle()
		}
		if instance := p.Next(context.Background(), nil); instance != nil {
			return instance.Address().String()
		}
		return ""
	}
	_ = pick()
	return s, pick
}

// TestStaticChangeIsSeenByTheNextPick: though Kitex does not resolve again, while
// others pick all the time.
func TestStaticChangeIsSeenByTheNextPick(t *testing.T) {
	for _, policy := range loadbalance.Policies() {
		t.Run(policy, func(t *testing.T) {
			s, pick := follow(t, policy, 1)
			const first, second = "10.0.0.0:8888", "b:1"
			var others sync.WaitGroup
			var done atomic.Bool
			others.Go(func() {
				for !done.Load() {
					_ = pick()
				}
			})
			sees := func(what string, err error, want string) {
				t.Helper()
				if got := pick(); err != nil || got != want {
					t.Errorf("%s: %v, then picked %q, want %q", what, err, got, want)
				}
			}
			for range 50 {
				sees("weight 0", s.SetWeight(first, 0), "")
				sees("another one", s.Add(second, 1), second)
				sees("removed", s.Remove(first), second)
				sees("weight 0", s.SetWeight(second, 0), "")
				sees("the first again", s.Add(first, 1), first)
				sees("removed", s.Remove(second), first)
			}
			done.Store(true)
			others.Wait()
		})
	}
}

// BenchmarkStaticFollowed is one change with a balancer that uses the list.
func BenchmarkStaticFollowed(b *testing.B) {
	for _, policy := range loadbalance.Policies() {
		for _, n := range []int{10, 1000, 10_000} {
			s, _ := follow(b, policy, n)
			b.Run(fmt.Sprintf("policy=%s/n=%d", policy, n), func(b *testing.B) {
				weight := 10
				for b.Loop() {
					weight ^= 1
					if err := s.SetWeight("10.0.0.0:8888", weight); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
