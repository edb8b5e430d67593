// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	"github.com/cloudwego/kitex/pkg/rpcinfo"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fairway-rpc/fairway/discovery"
)

var allKeys = clientv3.WithPrefix()

// countingResolver notes when Kitex last asked.
type countingResolver struct {
	*discovery.Resolver

	last atomic.Int64
}

func (r *countingResolver) Resolve(ctx context.Context, desc string) (kdiscovery.Result, error) {
	r.last.Store(time.Now().UnixNano())
	return r.Resolver.Resolve(ctx, desc)
}

func (r *countingResolver) lastCall() time.Time { return time.Unix(0, r.last.Load()) }

// fixedResolver answers always the same.
func fixedResolver(res kdiscovery.Result) kdiscovery.Resolver {
	return &kdiscovery.SynthesizedResolver{
		ResolveFunc: func(context.Context, string) (kdiscovery.Result, error) { return res, nil },
		NameFunc:    func() string { return fmt.Sprintf("fixed-%p", &res) },
		TargetFunc:  func(context.Context, rpcinfo.EndpointInfo) string { return res.CacheKey },
	}
}
