// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"context"
	"errors"
	"fmt"
	"testing"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	"github.com/cloudwego/kitex/pkg/rpcinfo"

	"github.com/fairway-rpc/fairway/internal/pick"
)

// ofMethod is the context of a call of a method.
func ofMethod(ctx context.Context, method string) context.Context {
	return rpcinfo.NewCtxWithRPCInfo(ctx, rpcinfo.NewRPCInfo(nil,
		rpcinfo.NewEndpointInfo("echo", method, nil, nil), rpcinfo.NewInvocation("echo", method), nil, nil))
}

func TestEachMethodHasItsBalancer(t *testing.T) {
	lb, err := PerMethod(map[string]*Balancer{"Get": mustNew(t, ConsistentHash), "Put": mustNew(t, ConsistentHash)}, mustNew(t, RoundRobin))
	if err != nil {
		t.Fatal(err)
	}
	res := result("r", 1, 1, 1)
	for _, method := range []string{"Get", "Put"} {
		for i := range 20 {
			ctx := withKey(ofMethod(t.Context(), method), fmt.Sprint(i))
			if first, second := call(ctx, lb, res), call(ctx, lb, res); first != second || first == "" {
				t.Errorf("%s of key %d went to %q and %q", method, i, first, second)
			}
		}
	}
	for _, ctx := range []context.Context{ofMethod(t.Context(), "List"), t.Context()} {
		got := map[string]bool{}
		for range 3 {
			got[call(ctx, lb, res)] = true
		}
		if len(got) != 3 {
			t.Errorf("another method's calls go to %v, want all in turn", got)
		}
	}
	lb.Rebalance(kdiscovery.Change{Result: result("r", 0, 1)})
	for _, method := range []string{"Get", "List"} {
		for range 5 {
			if got := call(withKey(ofMethod(t.Context(), method), "k"), lb, result("r", 0, 1)); got != "i1:80" {
				t.Errorf("after a change %s goes to %q", method, got)
			}
		}
	}
}

// seenPolicies is an observer that notes who has picked.
type seenPolicies []string

func (s *seenPolicies) Wants(context.Context) bool { return true }

func (s *seenPolicies) Picked(_ context.Context, p *pick.Pick) { *s = append(*s, p.Policy) }

func TestObserversLearnWhoHasPicked(t *testing.T) {
	lb, err := PerMethod(map[string]*Balancer{"Get": mustNew(t, LeastActive)}, mustNew(t, SmoothWRR))
	if err != nil {
		t.Fatal(err)
	}
	var seen seenPolicies
	view := lb.Observed(&seen)
	for _, method := range []string{"Get", "List"} {
		_ = call(ofMethod(t.Context(), method), view, result("r", 1))
	}
	if len(seen) != 2 || seen[0] != LeastActive || seen[1] != SmoothWRR {
		t.Errorf("policies %v", seen)
	}
	if view.Policy() != PerMethodPolicy || view.Name() == lb.Name() {
		t.Errorf("policy %q, name %q", view.Policy(), view.Name())
	}
}

func TestPerMethodRefusesNil(t *testing.T) {
	if _, err := PerMethod(nil, nil); !errors.Is(err, ErrInvalidConfig) {
		t.Errorf("no other balancer: %v", err)
	}
	if _, err := PerMethod(map[string]*Balancer{"Get": nil}, mustNew(t, Random)); !errors.Is(err, ErrInvalidConfig) {
		t.Errorf("a nil balancer: %v", err)
	}
}
