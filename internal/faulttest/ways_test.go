// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package faulttest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice"
	"github.com/fairway-rpc/fairway/internal/etcdtest"
	"github.com/fairway-rpc/fairway/loadbalance"
)

// apart is a world whose providers and whose consumer reach etcd by ways of
// their own, which fail one by one.
type apart struct {
	world

	providersWay *etcdtest.Proxy
	consumersWay *etcdtest.Proxy
}

func newApart(t testing.TB, n int, ttl time.Duration) *apart {
	t.Helper()
	w := &apart{world: world{etcd: etcdtest.Start(t)}}
	w.providersWay = etcdtest.NewProxy(t, w.etcd.Endpoint())
	w.consumersWay = etcdtest.NewProxy(t, w.etcd.Endpoint())
	w.providers = providers(t, n, w.providersWay.Addr(), discovery.WithTTL(ttl))
	w.resolver = resolver(t, w.consumersWay.Addr())
	sees(t, w.resolver, n, 0)
	w.load = startLoad(t, consumer(t, w.resolver, loadbalance.SmoothWRR))
	return w
}

// requests notes when a client has read from etcd.
type requests struct {
	mu  sync.Mutex
	all []time.Time
}

func (r *requests) options() []grpc.DialOption {
	return []grpc.DialOption{grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any,
		conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
	) error {
		if method == "/etcdserverpb.KV/Range" {
			r.mu.Lock()
			r.all = append(r.all, time.Now())
			r.mu.Unlock()
		}
		return invoke(ctx, method, req, reply, conn, opts...)
	})}
}

// since is how many there were since then.
func (r *requests) since(then time.Time) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.all) - len(slices.DeleteFunc(slices.Clone(r.all), then.Before))
}

// dialAs is dial for what else a configuration may have.
func dialAs(t testing.TB, cfg discovery.EtcdConfig) *clientv3.Client {
	t.Helper()
	if cfg.Logger == nil {
		cfg.Logger = testLog(t)
	}
	cli, err := discovery.Dial(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cli.Close() })
	return cli
}

// resolverOn is a consumer's resolver on a client that the test has made.
func resolverOn(t testing.TB, cli *clientv3.Client, opts ...discovery.ResolverOption) *discovery.Resolver {
	t.Helper()
	opts = append([]discovery.ResolverOption{discovery.WithLogger(testLog(t)), discovery.WithSnapshotDir(t.TempDir())}, opts...)
	res, err := discovery.NewResolver(cli, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Close() })
	return res
}

// call is one call and how long it took.
func call(t testing.TB, cli echoservice.Client) (*echo.Response, time.Duration, error) {
	t.Helper()
	began := time.Now()
	response, err := cli.Echo(t.Context(), &echo.Request{Message: "hello"})
	return response, time.Since(began), err
}

// put writes a key without a lease, as an operator does.
func put(t testing.TB, cli *clientv3.Client, key, value string) int64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	resp, err := cli.Put(ctx, key, value)
	if err != nil {
		t.Fatal(err)
	}
	return resp.Header.Revision
}

// record is that of an instance which nobody keeps alive.
func record(address string) string {
	return `{"network":"tcp","address":"` + address + `","weight":10}`
}

// knows reports whether the resolver has this address.
func knows(res *discovery.Resolver, name, address string) bool {
	s, ok := res.Snapshot(name)
	return ok && slices.ContainsFunc(s.Instances, func(i *discovery.Instance) bool {
		return i.Address().String() == address
	})
}

// status is that of the service.
func status(t testing.TB, res *discovery.Resolver) discovery.ServiceStatus {
	t.Helper()
	for _, s := range res.Status().Services {
		if s.Service == service {
			return s
		}
	}
	t.Fatalf("the resolver does not follow %s", service)
	return discovery.ServiceStatus{}
}

// relists is how often the service was listed again, whatever the cause.
func relists(t testing.TB, res *discovery.Resolver) (n int64) {
	t.Helper()
	for _, count := range status(t, res).Relists {
		n += count
	}
	return n
}

// lasts waits for a time to pass, in which the test has nothing to do.
func lasts(t testing.TB, d time.Duration) {
	t.Helper()
	began := time.Now()
	waitWithin(t, d+time.Minute, "time passes", func() bool { return time.Since(began) >= d })
}
