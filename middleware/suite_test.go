// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/klog"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/internal/echotest"
	"github.com/fairway-rpc/fairway/loadbalance"
	"github.com/fairway-rpc/fairway/middleware"
)

func TestConstructorsPanicWithAnErrorThatSaysWhat(t *testing.T) {
	etcd, err := discovery.Dial(discovery.EtcdConfig{Endpoints: []string{"127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer etcd.Close()
	reg := registry(t, etcd)
	lb := balancer(t, loadbalance.SmoothWRR)
	for name, f := range map[string]func(){
		"NewClientSuite: resolver": func() { middleware.NewClientSuite(nil, lb) },
		"NewClientSuite: balancer": func() { middleware.NewClientSuite(hosts(), nil) },
		"WithPickSpans":            func() { middleware.NewClientSuite(hosts(), lb, middleware.WithPickSpans(7)) },
		"TracePicks":               func() { middleware.TracePicks(nil) },
		"NewServerSuite: registry": func() { middleware.NewServerSuite(nil, "echo") },
		"service name":             func() { middleware.NewServerSuite(reg, "a/b") },
		"WithServiceNames":         func() { middleware.NewServerSuite(reg, "echo", middleware.WithServiceNames("_x")) },
		"WithWeight":               func() { middleware.NewServerSuite(reg, "echo", middleware.WithWeight(-1)) },
	} {
		func() {
			defer func() {
				err, ok := recover().(error)
				if what, _, _ := strings.Cut(name, ":"); !ok || !errors.Is(err, middleware.ErrInvalidConfig) || !strings.Contains(err.Error(), what) {
					t.Errorf("%s: panicked with %v", name, err)
				}
			}()
			f()
		}()
	}
}

// TestLastOptionWins: hosts after the suite override it, hosts before it are
// overridden, which is logged.
func TestLastOptionWins(t *testing.T) {
	one, two := echotest.Start(t), echotest.Start(t)
	var log lockedLog
	klog.SetOutput(&log)
	suite := client.WithSuite(middleware.NewClientSuite(hosts(one.Address), balancer(t, loadbalance.SmoothWRR)))
	before := newClient(t, client.WithHostPorts(two.Address), suite)
	after := newClient(t, suite, client.WithHostPorts(two.Address))
	klog.SetOutput(os.Stderr)
	for range 5 {
		if got := call(t, before); got != one.Address {
			t.Errorf("suite last: answered by %s, want the suite's %s", got, one.Address)
		}
		if got := call(t, after); got != two.Address {
			t.Errorf("hosts last: answered by %s, want the host %s", got, two.Address)
		}
	}
	if n := strings.Count(log.String(), "overrides"); n != 1 || !strings.Contains(log.String(), two.Address) {
		t.Errorf("%d lines about the overridden hosts, want 1: %s", n, log.String())
	}
}

// TestPlainOptionsWork: the balancer alone, with another resolver.
func TestPlainOptionsWork(t *testing.T) {
	one := echotest.Start(t)
	for _, policy := range loadbalance.Policies() {
		cli := newClient(t, client.WithHostPorts(one.Address), client.WithLoadBalancer(balancer(t, policy)))
		if got := call(t, cli); got != one.Address {
			t.Errorf("%s: answered by %q", policy, got)
		}
	}
}

func TestSuitesPrintNoSecret(t *testing.T) {
	etcd, err := discovery.Dial(discovery.EtcdConfig{Endpoints: []string{"127.0.0.1:1"}, Username: "root", Password: "secret-word"})
	if err != nil {
		t.Fatal(err)
	}
	defer etcd.Close()
	reg, res := registry(t, etcd), resolver(t, etcd)
	for _, v := range []any{
		middleware.NewServerSuite(reg, "echo"), reg, res,
		middleware.NewClientSuite(res, balancer(t, loadbalance.SmoothWRR)),
	} {
		if got := fmt.Sprintf("%T(%+v)", v, v); strings.Contains(got, "secret-word") || len(got) > 300 {
			t.Errorf("printed as %s", got)
		}
	}
}
