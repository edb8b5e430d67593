// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/kerrors"
	"github.com/cloudwego/kitex/pkg/retry"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/internal/etcdtest"
	"github.com/fairway-rpc/fairway/loadbalance"
	"github.com/fairway-rpc/fairway/middleware"
)

// TestCallersLearnWhyThereIsNoInstance, by errors.Is through what Kitex returns,
// which stays an error of Kitex's, with retries too.
func TestCallersLearnWhyThereIsNoInstance(t *testing.T) {
	noKey, err := loadbalance.New(loadbalance.ConsistentHash, loadbalance.WithKey(func(context.Context, any) string { return "" }))
	if err != nil {
		t.Fatal(err)
	}
	change := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		balancer    *loadbalance.Balancer
		list        func(*discovery.Static)
		kitex, want error
		text        string
	}{
		"no such service": {nil, func(*discovery.Static) {}, kerrors.ErrServiceDiscovery, discovery.ErrServiceNotFound, `"echo"`},
		"emptied": {nil, func(s *discovery.Static) {
			change(s.Add("10.0.0.1:1", 1))
			change(s.Remove("10.0.0.1:1"))
		}, kerrors.ErrNoMoreInstance, loadbalance.ErrEmpty, `service "echo", 0 listed`},
		"drained": {nil, func(s *discovery.Static) { change(s.Add("10.0.0.1:1", 0)) }, kerrors.ErrNoMoreInstance, loadbalance.ErrAllDrained, "1 listed"},
		"no key":  {noKey, func(s *discovery.Static) { change(s.Add("10.0.0.1:1", 1)) }, kerrors.ErrNoMoreInstance, loadbalance.ErrNoKey, "hash key"},
	} {
		t.Run(name, func(t *testing.T) {
			s := discovery.NewStatic()
			defer s.Close()
			tt.list(s)
			if tt.balancer == nil {
				tt.balancer = balancer(t, loadbalance.SmoothWRR)
			}
			for _, retries := range []client.Option{{F: nil}, client.WithFailureRetry(retry.NewFailurePolicy())} {
				opts := []client.Option{client.WithSuite(middleware.NewClientSuite(s, tt.balancer))}
				if retries.F != nil {
					opts = append(opts, retries, retriesEnd(t))
				}
				_, err := newClient(t, opts...).Echo(t.Context(), &echo.Request{})
				var detailed *kerrors.DetailedError
				if !errors.Is(err, tt.want) || !errors.Is(err, tt.kitex) || !errors.As(err, &detailed) || !strings.Contains(err.Error(), tt.text) {
					t.Errorf("%v; want Kitex's %q for %q with %q", err, tt.kitex, tt.want, tt.text)
				}
				if strings.Contains(err.Error(), "%!w") {
					t.Errorf("%v", err)
				}
			}
		})
	}
}

// TestCallersLearnThatTheRegistryIsGone: all are drained, by a list that may be
// out of date.
func TestCallersLearnThatTheRegistryIsGone(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.Start(t)
	reg, res := registry(t, etcd.Client(t)), resolver(t, etcd.Client(t))
	provider(t, reg, middleware.WithWeight(0))
	cli := newClient(t, client.WithSuite(middleware.NewClientSuite(res, balancer(t, loadbalance.SmoothWRR))))
	var err error
	waitFor(t, "the drained provider is known", func() bool {
		_, err = cli.Echo(t.Context(), &echo.Request{})
		return errors.Is(err, loadbalance.ErrAllDrained)
	})
	if errors.Is(err, discovery.ErrRegistryUnavailable) {
		t.Errorf("%v, while etcd runs", err)
	}
	etcd.Kill()
	waitFor(t, "the list is stale", func() bool {
		_, err = cli.Echo(t.Context(), &echo.Request{})
		return errors.Is(err, discovery.ErrRegistryUnavailable)
	})
	var pick *loadbalance.PickError
	if !errors.As(err, &pick) || !errors.Is(err, loadbalance.ErrAllDrained) || !errors.Is(err, kerrors.ErrNoMoreInstance) {
		t.Fatalf("%v", err)
	}
	if !pick.Stale || pick.Age < time.Second || pick.Listed != 1 || pick.Service != service {
		t.Errorf("%+v", pick)
	}
}
