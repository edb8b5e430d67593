// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cloudwego/kitex/pkg/endpoint"
	"github.com/cloudwego/kitex/pkg/rpcinfo"
)

// maxErrors is how many different error texts are kept.
const maxErrors = 5

// Counts counts calls per instance. The zero Counts is ready to use, by any
// number of goroutines.
type Counts struct {
	instances sync.Map // address to *instance
	nowhere   instance // calls that reached no instance

	mu     sync.Mutex
	errors []string
}

type instance struct {
	calls, failed atomic.Uint64
	inFlight      atomic.Int64
}

// placement is where a call went: the instance of its last attempt, in the
// Counts of the call. A call that timed out may still be writing it.
type placement struct {
	counts *Counts
	last   atomic.Pointer[instance]
}

type placementKey struct{}

// Do makes a call and counts it, once, for the instance that it reached last.
func (c *Counts) Do(ctx context.Context, call func(context.Context) error) {
	where := &placement{counts: c}
	err := call(context.WithValue(ctx, placementKey{}, where))
	i := where.last.Load()
	if i == nil {
		i = &c.nowhere
	}
	i.calls.Add(1)
	if err != nil {
		c.keep(err.Error())
		i.failed.Add(1)
	}
}

// Middleware tells the Counts that make a call which instance an attempt goes
// to, and counts it as in flight there. It is for client.WithInstanceMW; calls
// that no Counts makes pass through.
func Middleware(next endpoint.Endpoint) endpoint.Endpoint {
	return func(ctx context.Context, request, response any) error {
		where, counted := ctx.Value(placementKey{}).(*placement)
		address := rpcinfo.GetRPCInfo(ctx).To().Address()
		if !counted || address == nil {
			return next(ctx, request, response)
		}
		i := where.counts.instance(address.String())
		where.last.Store(i)
		i.inFlight.Add(1)
		defer i.inFlight.Add(-1)
		return next(ctx, request, response)
	}
}

func (c *Counts) instance(address string) *instance {
	if i, ok := c.instances.Load(address); ok {
		return i.(*instance)
	}
	i, _ := c.instances.LoadOrStore(address, &instance{})
	return i.(*instance)
}

func (c *Counts) keep(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.errors) < maxErrors && !slices.Contains(c.errors, text) {
		c.errors = append(c.errors, text)
	}
}
