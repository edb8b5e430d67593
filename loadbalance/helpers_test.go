// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"context"
	"fmt"
	"testing"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	kloadbalance "github.com/cloudwego/kitex/pkg/loadbalance"
	"github.com/cloudwego/kitex/pkg/rpcinfo"
	"github.com/cloudwego/kitex/pkg/rpcinfo/remoteinfo"

	"github.com/fairway-rpc/fairway/internal/leaktest"
	"github.com/fairway-rpc/fairway/internal/live"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// byContext is a key function for tests: the key travels in the context.
type keyInContext struct{}

func keyOf(ctx context.Context, _ any) string {
	key, _ := ctx.Value(keyInContext{}).(string)
	return key
}

func withKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, keyInContext{}, key)
}

func mustNew(t testing.TB, policy string, opts ...Option) *Balancer {
	t.Helper()
	b, err := New(policy, append([]Option{WithKey(keyOf)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// observed is a balancer as the suite of package middleware uses it.
func observed(t testing.TB, policy string, opts ...Option) *Balancer {
	t.Helper()
	return mustNew(t, policy, opts...).Observed(nil)
}

// result is what a foreign resolver hands over: instances i0, i1 ... with the
// given weights.
func result(key string, weights ...int) kdiscovery.Result {
	res := kdiscovery.Result{Cacheable: true, CacheKey: key}
	for i, weight := range weights {
		res.Instances = append(res.Instances, kdiscovery.NewInstance("tcp", fmt.Sprintf("i%d:80", i), weight, nil))
	}
	return res
}

// liveSet is what a resolver of ours publishes.
func liveSet(revision int64, weights ...int) *live.Set {
	return &live.Set{Nodes: nodesOf(result("", weights...).Instances), Revision: revision, Source: "etcd"}
}

// attempt is the context of one attempt of a Kitex call.
func attempt(ctx context.Context, failed kdiscovery.Instance, tags map[string]string) context.Context {
	remote := remoteinfo.NewRemoteInfo(&rpcinfo.EndpointBasicInfo{ServiceName: "echo", Method: "Echo", Tags: tags}, "Echo")
	if failed != nil {
		remote.SetInstance(failed)
	}
	ri := rpcinfo.NewRPCInfo(nil, remote.ImmutableView(), rpcinfo.NewInvocation("echo", "Echo"), nil, nil)
	return rpcinfo.NewCtxWithRPCInfo(ctx, ri)
}

// setFailed is what Kitex leaves behind when it picks again.
func setFailed(ctx context.Context, instance kdiscovery.Instance) {
	remoteinfo.AsRemoteInfo(rpcinfo.GetRPCInfo(ctx).To()).SetInstance(instance)
}

// call picks once and recycles, as Kitex does for one attempt.
func call(ctx context.Context, lb kloadbalance.Loadbalancer, res kdiscovery.Result) string {
	p := lb.GetPicker(res)
	instance := p.Next(ctx, nil)
	recycle(p)
	if instance == nil {
		return ""
	}
	return instance.Address().String()
}

func recycle(p kloadbalance.Picker) {
	if r, ok := p.(interface{ Recycle() }); ok {
		r.Recycle()
	}
}

// shares counts n calls by address.
func shares(t testing.TB, lb kloadbalance.Loadbalancer, res kdiscovery.Result, n int) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for i := range n {
		counts[call(withKey(t.Context(), fmt.Sprint(i)), lb, res)]++
	}
	return counts
}
