// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/internal/etcdtest"
	"github.com/fairway-rpc/fairway/loadbalance"
	"github.com/fairway-rpc/fairway/middleware"
)

// TestUnreadyProviderDrainsAndKeepsItsKey, from its registration on, under each of
// its names.
func TestUnreadyProviderDrainsAndKeepsItsKey(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.Start(t)
	reg, res := registry(t, etcd.Client(t), discovery.WithHideDrained()), resolver(t, etcd.Client(t))
	var ready atomic.Bool
	server := provider(t, reg, middleware.WithServiceNames("echo2"), middleware.WithReadiness(func(context.Context) error {
		if !ready.Load() {
			return errors.New("the cache is cold")
		}
		return nil
	}, 10*time.Millisecond))
	cli := newClient(t, client.WithSuite(middleware.NewClientSuite(res, balancer(t, loadbalance.SmoothWRR))))
	drained := func() bool {
		_, err := cli.Echo(t.Context(), &echo.Request{})
		return errors.Is(err, loadbalance.ErrAllDrained)
	}
	registered := func(service string) discovery.InstanceState {
		cancel := res.Subscribe(service, func(*discovery.Snapshot) {})
		defer cancel()
		s, ok := res.Snapshot(service)
		if !ok || len(s.Instances) != 1 {
			return ""
		}
		return s.Instances[0].State()
	}
	waitFor(t, "it is registered and drains", drained)
	waitFor(t, "the other name drains", func() bool { return registered("echo2") == discovery.StateDraining })
	ready.Store(true)
	waitFor(t, "it is called", func() bool {
		_, err := cli.Echo(t.Context(), &echo.Request{})
		return err == nil
	})
	waitFor(t, "the other name serves", func() bool { return registered("echo2") == discovery.StateServing })
	ready.Store(false)
	waitFor(t, "it drains again", drained)
	if err := server.Stop(); err != nil {
		t.Error(err)
	}
}

func TestBadReadinessIsRefused(t *testing.T) {
	etcd := etcdtest.New(t)
	reg := registry(t, etcd.Client(t))
	for name, opt := range map[string]middleware.ServerOption{
		"nil":   middleware.WithReadiness(nil, 0),
		"below": middleware.WithReadiness(func(context.Context) error { return nil }, -1),
	} {
		func() {
			defer func() {
				if err, _ := recover().(error); !errors.Is(err, middleware.ErrInvalidConfig) {
					t.Errorf("%s: %v", name, err)
				}
			}()
			middleware.NewServerSuite(reg, "echo", opt)
		}()
	}
}
