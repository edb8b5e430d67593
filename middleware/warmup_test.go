// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware_test

import (
	"errors"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/internal/etcdtest"
	"github.com/fairway-rpc/fairway/loadbalance"
	"github.com/fairway-rpc/fairway/middleware"
)

// TestNewProviderWarmsUp: one that was there when the consumer began has its
// whole share; one that comes later grows into it.
func TestNewProviderWarmsUp(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.Start(t).Client(t)
	warmUp := middleware.WithWarmUp(3 * time.Second)
	old := provider(t, registry(t, etcd, discovery.WithDrainDelay(0)), middleware.WithWeight(1))
	res := resolver(t, etcd)
	lb := balancer(t, loadbalance.SmoothWRR)
	cli := newClient(t, client.WithSuite(middleware.NewClientSuite(res, lb)))
	waitFor(t, "the first is known", func() bool {
		_, _ = res.Resolve(t.Context(), service)
		s, ok := res.Snapshot(service)
		return ok && len(s.Instances) == 1
	})
	if got := call(t, cli); got != old.Address {
		t.Errorf("answered by %q", got)
	}

	young := provider(t, registry(t, etcd, discovery.WithDrainDelay(0)), middleware.WithWeight(1), warmUp)
	share := func() float64 {
		for _, i := range lb.State()[0].Instances {
			if i.Address == young.Address {
				return i.Share
			}
		}
		return -1
	}
	waitFor(t, "the second is known", func() bool { return share() >= 0 })
	if first := share(); first > 0.25 {
		t.Errorf("its share is %.2f at once", first)
	}
	last := 0.0
	waitFor(t, "the second has its whole share", func() bool {
		now := share()
		if now < last {
			t.Errorf("its share has fallen from %.2f to %.2f", last, now)
		}
		last = now
		return now == 0.5
	})

	late := balancer(t, loadbalance.SmoothWRR)
	other := newClient(t, client.WithSuite(middleware.NewClientSuite(resolver(t, etcd), late)))
	_ = call(t, other)
	for _, i := range late.State()[0].Instances {
		if i.Effective != 1 {
			t.Errorf("a consumer that comes later gives %s an effective weight of %v", i.Address, i.Effective)
		}
	}
}

func TestBadWarmUpsAreRefused(t *testing.T) {
	t.Parallel()
	reg := registry(t, etcdtest.Start(t).Client(t))
	for _, d := range []time.Duration{-1, 2 * time.Hour} {
		func() {
			defer func() {
				if err, ok := recover().(error); !ok || !errors.Is(err, middleware.ErrInvalidConfig) {
					t.Errorf("%v: %v", d, err)
				}
			}()
			middleware.NewServerSuite(reg, service, middleware.WithWarmUp(d))
		}()
	}
}
