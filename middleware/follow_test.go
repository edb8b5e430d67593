// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware_test

import (
	"io"
	"net"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/connpool"
	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	"github.com/cloudwego/kitex/pkg/event"
	"github.com/cloudwego/kitex/pkg/loadbalance/lbcache"
	"github.com/cloudwego/kitex/pkg/utils"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice"
	"github.com/fairway-rpc/fairway/internal/echotest"
	"github.com/fairway-rpc/fairway/internal/etcdtest"
	"github.com/fairway-rpc/fairway/loadbalance"
	"github.com/fairway-rpc/fairway/middleware"
)

// watched is a listener that knows how many of its connections are open.
type watched struct {
	net.Listener

	open atomic.Int64
}

func (l *watched) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.open.Add(1)
	return &watchedConn{Conn: conn, closed: sync.OnceFunc(func() { l.open.Add(-1) })}, nil
}

type watchedConn struct {
	net.Conn

	closed func()
}

func (c *watchedConn) Close() error {
	c.closed()
	return c.Conn.Close()
}

func startWatched(t *testing.T) (*echotest.Server, *watched) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &watched{Listener: listener}
	return echotest.StartOn(t, w), w
}

// pooling are the options of a client that keeps connections, and whose own
// refresh comes long after the test.
func pooling(t *testing.T, res kdiscovery.Resolver, more ...client.Option) []client.Option {
	t.Helper()
	lb := balancer(t, loadbalance.RoundRobin)
	return append(more,
		client.WithLongConnection(connpool.IdleConfig{MaxIdlePerAddress: 10, MaxIdleGlobal: 100, MaxIdleTimeout: time.Hour}),
		client.WithLoadBalancer(lb, &lbcache.Options{RefreshInterval: time.Hour, ExpireInterval: time.Hour}),
		client.WithSuite(middleware.NewClientSuite(res, lb)))
}

// TestConnectionsToARemovedInstanceAreClosedAtOnce, not when Kitex resolves again;
// a call that is under way there ends well.
func TestConnectionsToARemovedInstanceAreClosedAtOnce(t *testing.T) {
	leaver, onLeaver := startWatched(t)
	stayer, onStayer := startWatched(t)
	s := static(t, map[string]int{leaver.Address: 10, stayer.Address: 10})
	cli := newClient(t, pooling(t, s)...)
	for range 4 {
		_ = call(t, cli)
	}
	if onLeaver.open.Load() == 0 || onStayer.open.Load() == 0 {
		t.Fatalf("%d and %d connections", onLeaver.open.Load(), onStayer.open.Load())
	}
	before := leaver.Calls() + stayer.Calls()
	var under sync.WaitGroup
	for range 2 { // one each
		under.Go(func() {
			if _, err := cli.Echo(t.Context(), &echo.Request{DelayMs: 300}); err != nil {
				t.Errorf("a call under way: %v", err)
			}
		})
	}
	waitFor(t, "both are at work", func() bool { return leaver.Calls()+stayer.Calls() == before+2 })
	if err := s.Remove(leaver.Address); err != nil {
		t.Fatal(err)
	}
	under.Wait()
	waitFor(t, "the connections are closed", func() bool { return onLeaver.open.Load() == 0 })
	if onStayer.open.Load() == 0 {
		t.Error("the connections to the other instance are closed, too")
	}
}

// changes makes a client's bus and what comes on it known.
func changes(seen chan<- *kdiscovery.Change, bus *event.Bus) client.Option {
	return client.Option{F: func(o *client.Options, _ *utils.Slice) {
		*bus = o.Bus
		o.Bus.Watch(kdiscovery.ChangeEventName, func(e *event.Event) { seen <- e.Extra.(*kdiscovery.Change) })
	}}
}

// next waits for a change.
func next(t *testing.T, seen <-chan *kdiscovery.Change) *kdiscovery.Change {
	t.Helper()
	waitFor(t, "a change is dispatched", func() bool { return len(seen) > 0 })
	return <-seen
}

func addressesOf(instances []kdiscovery.Instance) []string {
	var all []string
	for _, i := range instances {
		all = append(all, i.Address().String())
	}
	slices.Sort(all)
	return all
}

// TestChangesAreDispatchedAsKitexDoes: who watches the bus sees what a refresh
// would have told.
func TestChangesAreDispatchedAsKitexDoes(t *testing.T) {
	server := echotest.Start(t)
	s := static(t, map[string]int{server.Address: 10})
	seen := make(chan *kdiscovery.Change, 10)
	var bus event.Bus
	cli := newClient(t, pooling(t, s, changes(seen, &bus))...)
	_ = call(t, cli)
	const other = "10.0.0.1:1"
	for _, step := range []struct {
		what                    string
		do                      func() error
		added, updated, removed []string
	}{
		{"added", func() error { return s.Add(other, 10) }, []string{other}, nil, nil},
		{"weight", func() error { return s.SetWeight(other, 5) }, nil, []string{other}, nil},
		{"drained", func() error { return s.SetWeight(other, 0) }, nil, nil, []string{other}},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		change := next(t, seen)
		if !slices.Equal(addressesOf(change.Added), step.added) || !slices.Equal(addressesOf(change.Updated), step.updated) ||
			!slices.Equal(addressesOf(change.Removed), step.removed) {
			t.Errorf("%s: %+v", step.what, change)
		}
		if want := s.Name() + ":" + service; change.Result.CacheKey != want || !change.Result.Cacheable || !slices.Contains(addressesOf(change.Result.Instances), server.Address) {
			t.Errorf("%s: %+v, want all instances and the key %q", step.what, change.Result, want)
		}
	}
}

// TestClosedClientHearsNoMore, though others use the resolver on.
func TestClosedClientHearsNoMore(t *testing.T) {
	server := echotest.Start(t)
	s := static(t, map[string]int{server.Address: 10})
	seen, others := make(chan *kdiscovery.Change, 10), make(chan *kdiscovery.Change, 10)
	var bus event.Bus
	cli, err := client.NewClient(echoservice.NewServiceInfo(), pooling(t, s, client.WithDestService(service), changes(seen, &bus))...)
	if err != nil {
		t.Fatal(err)
	}
	if err := cli.Call(t.Context(), "Echo", &echo.EchoServiceEchoArgs{Request: &echo.Request{}}, &echo.EchoServiceEchoResult{}); err != nil {
		t.Fatal(err)
	}
	_ = call(t, newClient(t, pooling(t, s, changes(others, &bus))...))
	if err := cli.(io.Closer).Close(); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"10.0.0.1:1", "10.0.0.2:1"} {
		if err := s.Add(address, 10); err != nil {
			t.Fatal(err)
		}
		_ = next(t, others)
	}
	if len(seen) > 0 {
		t.Error("the closed client's bus has a change")
	}
}

// TestForgottenClientIsClosed: Kitex closes a client that is garbage, which one
// that is followed must become.
func TestForgottenClientIsClosed(t *testing.T) {
	server := echotest.Start(t)
	s := static(t, map[string]int{server.Address: 10})
	closed := make(chan struct{})
	cli, err := echoservice.NewClient(service, pooling(t, s, client.WithCloseCallbacks(func() error {
		close(closed)
		return nil
	}))...)
	if err != nil {
		t.Fatal(err)
	}
	_ = call(t, cli)
	waitFor(t, "it is closed", func() bool {
		runtime.GC()
		select {
		case <-closed:
			return true
		default:
			return false
		}
	})
}

// TestProviderThatLeavesLosesItsConnections is the same through etcd.
func TestProviderThatLeavesLosesItsConnections(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.Start(t).Client(t)
	reg, res := registry(t, etcd, discovery.WithDrainDelay(0)), resolver(t, etcd)
	_ = provider(t, reg)
	seen := make(chan *kdiscovery.Change, 10)
	var bus event.Bus
	cli := newClient(t, pooling(t, res, changes(seen, &bus))...)
	waitFor(t, "the provider answers", func() bool {
		_, err := cli.Echo(t.Context(), &echo.Request{})
		return err == nil
	})
	if err := reg.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	for len(next(t, seen).Removed) != 1 {
		t.Log("another change came first")
	}
}
