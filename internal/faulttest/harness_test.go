// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package faulttest

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/server"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice"
	"github.com/fairway-rpc/fairway/internal/echotest"
	"github.com/fairway-rpc/fairway/internal/etcdtest"
	"github.com/fairway-rpc/fairway/internal/leaktest"
	"github.com/fairway-rpc/fairway/loadbalance"
	"github.com/fairway-rpc/fairway/middleware"
)

const (
	service = "echo"
	// beside is how many tests run at a time: they wait more than they work.
	beside = "16"
)

func TestMain(m *testing.M) {
	if isProvider() {
		os.Exit(runProvider())
	}
	if isGauge() {
		os.Exit(runGauge())
	}
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set(beside)
	}
	leaktest.Main(m)
}

// dial makes a client as a user does.
func dial(t testing.TB, log *slog.Logger, endpoints ...string) *clientv3.Client {
	t.Helper()
	cli, err := discovery.Dial(discovery.EtcdConfig{Endpoints: endpoints, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cli.Close() })
	return cli
}

// registry is a provider's registry on a client of its own.
func registry(t testing.TB, endpoint string, opts ...discovery.RegistryOption) *discovery.Registry {
	t.Helper()
	log := testLog(t)
	opts = append([]discovery.RegistryOption{discovery.WithLogger(log), discovery.WithDrainDelay(time.Second / 2)}, opts...)
	reg, err := discovery.NewRegistry(dial(t, log, endpoint), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reg.Close() })
	return reg
}

// provider is an echo server in this process that registers.
func provider(t testing.TB, reg *discovery.Registry, opts ...middleware.ServerOption) *echotest.Server {
	t.Helper()
	return echotest.Start(t, server.WithSuite(middleware.NewServerSuite(reg, service, opts...)))
}

// providers starts n of them, each with a registry of its own.
func providers(t testing.TB, n int, endpoint string, opts ...discovery.RegistryOption) []*echotest.Server {
	t.Helper()
	list := make([]*echotest.Server, n)
	for i := range list {
		list[i] = provider(t, registry(t, endpoint, opts...))
	}
	return list
}

// resolver is a consumer's resolver on a client of its own, with a disk copy.
func resolver(t testing.TB, endpoint string, opts ...discovery.ResolverOption) *discovery.Resolver {
	t.Helper()
	log := testLog(t)
	opts = append([]discovery.ResolverOption{discovery.WithLogger(log), discovery.WithSnapshotDir(t.TempDir())}, opts...)
	res, err := discovery.NewResolver(dial(t, log, endpoint), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Close() })
	return res
}

// anyKey gives each call another key, for the policies that take one.
func anyKey(context.Context, any) string { return strconv.FormatUint(keyed.Add(1)%1000, 10) }

var keyed atomic.Uint64

// consumer is a Kitex client with the suite.
func consumer(t testing.TB, res *discovery.Resolver, policy string, opts ...client.Option) echoservice.Client {
	t.Helper()
	lb, err := loadbalance.New(policy, loadbalance.WithKey(anyKey))
	if err != nil {
		t.Fatal(err)
	}
	opts = append([]client.Option{
		client.WithSuite(middleware.NewClientSuite(res, lb)),
		client.WithConnectTimeout(time.Second / 2),
		client.WithRPCTimeout(2 * time.Second),
	}, opts...)
	cli, err := echoservice.NewClient(service, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if c, ok := cli.(interface{ Close() error }); ok {
			_ = c.Close()
		}
	})
	return cli
}

// sees waits until the resolver knows this many instances, suspects included.
func sees(t testing.TB, res *discovery.Resolver, instances, suspects int) {
	t.Helper()
	last := "nothing"
	defer func() {
		if t.Failed() {
			t.Logf("the resolver knew %s", last)
		}
	}()
	waitFor(t, fmt.Sprintf("%d instances are known, of which %d suspects", instances, suspects), func() bool {
		_, _ = res.Resolve(t.Context(), service)
		s, ok := res.Snapshot(service)
		if ok {
			last = fmt.Sprintf("%v, %d suspects, %s", s.Instances, s.Suspects, s.State)
		}
		return ok && len(s.Instances) == instances && s.Suspects == suspects
	})
}

// state is the feed's, "" while nothing is known.
func state(res *discovery.Resolver) discovery.FeedState {
	s, ok := res.Snapshot(service)
	if !ok {
		return ""
	}
	return s.State
}

// keys are the service's in etcd; every one must have a lease.
func keys(t testing.TB, cli *clientv3.Client) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	resp, err := cli.Get(ctx, "fairway/"+service+"/", clientv3.WithPrefix())
	if err != nil {
		return nil
	}
	list := make([]string, 0, len(resp.Kvs))
	for _, kv := range resp.Kvs {
		if kv.Lease == 0 {
			t.Errorf("key %s has no lease", kv.Key)
		}
		list = append(list, string(kv.Key))
	}
	return list
}

func waitFor(t testing.TB, what string, ok func() bool) {
	t.Helper()
	waitWithin(t, 30*time.Second, what, ok)
}

// waitWithin fails the test if ok does not come true in time. Bounds that users
// were promised are given as they are: the machine is allowed to be slow
// elsewhere.
func waitWithin(t testing.TB, within time.Duration, what string, ok func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("not within %v: %s", within, what)
		}
	}
	return time.Since(began)
}

// testLog writes into the test's own log until the test ends.
func testLog(t testing.TB) *slog.Logger {
	w := &testWriter{t: t}
	t.Cleanup(w.close)
	return slog.New(slog.NewTextHandler(w, nil))
}

type testWriter struct {
	mu     sync.Mutex
	t      testing.TB
	closed bool
}

func (w *testWriter) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
}

func (w *testWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.t.Log(strings.TrimSpace(string(p)))
	}
	return len(p), nil
}

// world is an etcd with n providers and a consumer whose calls go on.
type world struct {
	etcd      *etcdtest.Server
	providers []*echotest.Server
	resolver  *discovery.Resolver
	load      *load
}

func newWorld(t testing.TB, n int, ttl time.Duration, opts ...discovery.ResolverOption) *world {
	t.Helper()
	w := &world{etcd: etcdtest.Start(t)}
	w.providers = providers(t, n, w.etcd.Endpoint(), discovery.WithTTL(ttl))
	w.resolver = resolver(t, w.etcd.Endpoint(), opts...)
	sees(t, w.resolver, n, 0)
	w.load = startLoad(t, consumer(t, w.resolver, loadbalance.SmoothWRR))
	return w
}
