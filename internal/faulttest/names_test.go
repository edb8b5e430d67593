// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package faulttest

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/server"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/internal/echotest"
	"github.com/fairway-rpc/fairway/internal/etcdtest"
	"github.com/fairway-rpc/fairway/loadbalance"
	"github.com/fairway-rpc/fairway/middleware"
)

// alike are names of which each begins another.
var alike = []string{"a", "ab", "a.b"}

// TestNoServiceSeesInstancesOfOneWithASimilarName: whatever kind their
// addresses are of.
func TestNoServiceSeesInstancesOfOneWithASimilarName(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.Start(t)
	for kind, listen := range map[string]func(t *testing.T) net.Listener{
		"IPv4":        func(t *testing.T) net.Listener { return listenOn(t, "tcp", "127.0.0.1:0") },
		"IPv6":        func(t *testing.T) net.Listener { return listenOn(t, "tcp", "[::1]:0") },
		"Unix-socket": func(t *testing.T) net.Listener { return listenOn(t, "unix", socket(t)) },
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			prefix := discovery.WithPrefix("fairway-" + kind)
			res := resolver(t, etcd.Endpoint(), prefix)
			servers := make(map[string]*echotest.Server)
			for _, name := range alike {
				reg := registry(t, etcd.Endpoint(), prefix)
				servers[name] = echotest.StartOn(t, listen(t), server.WithSuite(middleware.NewServerSuite(reg, name)))
			}
			for _, name := range alike {
				waitFor(t, name+" has its own instance, and no other", func() bool {
					return only(t, res, name, servers[name].Address)
				})
				callsReach(t, res, name, servers[name])
			}
			if err := servers["a"].Stop(); err != nil {
				t.Error(err)
			}
			waitFor(t, "a has none", func() bool {
				s, _ := res.Snapshot("a")
				return len(s.Instances) == 0
			})
			for _, name := range alike[1:] {
				if !only(t, res, name, servers[name].Address) {
					t.Errorf("%s has lost its instance with that of a", name)
				}
			}
		})
	}
}

// only reports whether the service has this one instance.
func only(t *testing.T, res *discovery.Resolver, name, address string) bool {
	t.Helper()
	_, _ = res.Resolve(t.Context(), name)
	s, ok := res.Snapshot(name)
	if ok && len(s.Instances) > 1 {
		t.Fatalf("%s has the instances %v, its own is %s", name, s.Instances, address)
	}
	return ok && len(s.Instances) == 1 && s.Instances[0].Address().String() == address
}

// callsReach makes some calls and wants them all at the server.
func callsReach(t *testing.T, res *discovery.Resolver, name string, want *echotest.Server) {
	t.Helper()
	cli := consumer(t, res, loadbalance.SmoothWRR, client.WithDestService(name))
	const calls = 10
	for range calls {
		if _, _, err := call(t, cli); err != nil {
			t.Fatal(err)
		}
	}
	if n := want.Calls(); n != calls {
		t.Errorf("%d of %d calls to %s reached its instance", n, calls, name)
	}
}

func listenOn(t *testing.T, network, address string) net.Listener {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Skipf("this machine has no %s %s: %v", network, address, err)
	}
	return l
}

// socket is a path short enough for a Unix socket.
func socket(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "fw") //nolint:usetesting // the test's folder has too long a name
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}
