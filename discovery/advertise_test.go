// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/kitex/pkg/registry"
	"github.com/cloudwego/kitex/pkg/utils"
)

func TestAdvertisedAddress(t *testing.T) {
	for _, tt := range []struct {
		name, listener, configured, ip, port, want string
	}{
		{name: "as it listens", listener: "10.1.2.3:8888", want: "10.1.2.3:8888"},
		{name: "loopback, if bound to it", listener: "127.0.0.1:8888", want: "127.0.0.1:8888"},
		{name: "IPv6", listener: "[fe80::1]:8888", want: "[fe80::1]:8888"},
		{name: "configured host", listener: "[::]:8888", configured: "example.org", want: "example.org:8888"},
		{name: "configured host and port", listener: "[::]:8888", configured: "example.org:80", want: "example.org:80"},
		{name: "configured IPv6 host", listener: "[::]:8888", configured: "2001:db8::1", want: "[2001:db8::1]:8888"},
		{name: "environment", listener: "[::]:8888", ip: "10.9.9.9", port: "99", want: "10.9.9.9:99"},
		{name: "environment, IPv6", listener: "0.0.0.0:8888", ip: "2001:db8::2", want: "[2001:db8::2]:8888"},
		{name: "port alone", listener: "10.1.2.3:8888", port: "99", want: "10.1.2.3:99"},
		{name: "configured before environment", listener: "[::]:8888", configured: "example.org:80", ip: "10.9.9.9", port: "99", want: "example.org:80"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv(envAdvertiseIP, tt.ip)
			t.Setenv(envAdvertisePort, tt.port)
			got, _, err := advertise(t.Context(), utils.NewNetAddr("tcp", tt.listener), tt.configured, []string{"127.0.0.1:2379"})
			if err != nil || got != tt.want {
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

// TestUnspecifiedAddressNeverReachesEtcd: whatever this machine's interfaces
// are, the host is one that somebody could call.
func TestUnspecifiedAddressNeverReachesEtcd(t *testing.T) {
	t.Setenv(envAdvertiseIP, "")
	t.Setenv(envAdvertisePort, "")
	for _, listener := range []string{"[::]:8888", "0.0.0.0:8888", ":8888"} {
		for _, endpoints := range [][]string{{"127.0.0.1:2379"}, {"http://127.0.0.1:2379"}, {"no.such.host.invalid:2379"}, nil} {
			got, _, err := advertise(t.Context(), utils.NewNetAddr("tcp", listener), "", endpoints)
			if err != nil {
				t.Fatal(err)
			}
			if err := checkAddress("tcp", got); err != nil {
				t.Errorf("%s with etcd at %v is advertised as %s: %v", listener, endpoints, got, err)
			}
			host, _, _ := net.SplitHostPort(got)
			if net.ParseIP(host).IsLoopback() && interfaceIP() != nil {
				t.Errorf("%s is advertised as %s although an interface is up", listener, got)
			}
		}
	}
}

func TestAddressThatIsTakenAsItIs(t *testing.T) {
	r, err := NewRegistry(dialTest(t, deadEndpoint(t)), WithAdvertise("example.org:80"))
	if err != nil {
		t.Fatal(err)
	}
	for name, info := range map[string]*registry.Info{
		"SkipListenAddr": {Addr: utils.NewNetAddr("tcp", "10.0.0.1:7"), SkipListenAddr: true},
		"a Unix socket":  {Addr: utils.NewNetAddr("unix", "/run/echo.sock")},
	} {
		if got, _, err := r.advertised(t.Context(), info); err != nil || got != info.Addr.String() {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

func TestBadOptionsAreNamed(t *testing.T) {
	cli := dialTest(t, deadEndpoint(t))
	for name, opt := range map[string]RegistryOption{
		"WithAdvertise, empty":       WithAdvertise(""),
		"WithAdvertise, unspecified": WithAdvertise("0.0.0.0"),
		"WithAdvertise, a port":      WithAdvertise("example.org:99999"),
		"WithAdvertise, a URL":       WithAdvertise("http://example.org"),
		"WithTTL":                    WithTTL(0),
		"WithDrainDelay":             WithDrainDelay(-1),
		"WithStatusCallback":         WithStatusCallback(nil),
		"WithPrefix":                 WithPrefix("/"),
	} {
		if r, err := NewRegistry(cli, opt); !errors.Is(err, ErrInvalidConfig) || r != nil {
			t.Errorf("%s: got %v, want ErrInvalidConfig", name, err)
		}
	}
	for name, opt := range map[string]ResolverOption{
		"WithCluster": WithCluster("a/b"), "WithSnapshotDir": WithSnapshotDir(""), "WithMaxSnapshotAge": WithMaxSnapshotAge(0),
		"WithResolveTimeout": WithResolveTimeout(0), "WithMaxServices": WithMaxServices(0), "WithPrefix": WithPrefix(""),
	} {
		if r, err := NewResolver(cli, opt); !errors.Is(err, ErrInvalidConfig) || r != nil {
			t.Errorf("%s: got %v, want ErrInvalidConfig", name, err)
		}
	}
	if _, err := NewRegistry(nil); !errors.Is(err, ErrInvalidConfig) {
		t.Errorf("no client: got %v", err)
	}
	if _, err := NewResolver(nil); !errors.Is(err, ErrInvalidConfig) {
		t.Errorf("no client: got %v", err)
	}
}

// TestTTLOfTheEnvironment: registry-etcd's variable is the default, not more.
func TestTTLOfTheEnvironment(t *testing.T) {
	for _, tt := range []struct {
		env  string
		opts []RegistryOption
		want time.Duration
	}{
		{env: "", want: DefaultTTL},
		{env: "60", want: time.Minute},
		{env: "60", opts: []RegistryOption{WithTTL(3 * time.Second)}, want: 3 * time.Second},
		{env: "0"},
		{env: "-1"},
		{env: "60s"},
		{env: "99999999999"},
	} {
		t.Setenv(envTTL, tt.env)
		c, err := newRegistryConfig(tt.opts)
		switch {
		case tt.want == 0:
			if !errors.Is(err, ErrInvalidConfig) || !strings.Contains(err.Error(), envTTL) {
				t.Errorf("%q: got %v, want ErrInvalidConfig that names the variable", tt.env, err)
			}
		case err != nil || c.ttl != tt.want:
			t.Errorf("%q: got %+v, %v; want %v", tt.env, c, err, tt.want)
		}
	}
}

// TestAddressIsFoundAgain: a guess gives way to the address that routes to
// etcd, unless consumers may have seen it.
func TestAddressIsFoundAgain(t *testing.T) {
	find := func(context.Context) (string, bool) { return "10.0.0.1:8888", true }
	for tried, want := range map[bool]string{false: "10.0.0.1:8888", true: "192.168.0.1:8888"} {
		base := &record{Network: "tcp", Address: "192.168.0.1:8888", State: StateServing, Instance: "me"}
		r := &Registry{cfg: &registryConfig{common: newCommon()}}
		g := newRegistration(r, "echo", base, find)
		version := g.aim(wish{weight: new(int64(3))}.over(base, false), false)
		g.tried = tried
		g.findAddress(t.Context())
		got := g.wanted()
		if got.record.Address != want || got.key != "fairway/echo/"+want || got.version != version || got.record.weight() != 3 {
			t.Errorf("put before: %v: got %+v with %+v", tried, got, got.record)
		}
		if again := g.aim(base, false); again != version+1 || g.wanted().key != got.key {
			t.Errorf("the next wish is for %s", g.wanted().key)
		}
	}
}

func TestAddressIsCertainWhereEtcdIsRouted(t *testing.T) {
	t.Setenv(envAdvertiseIP, "")
	t.Setenv(envAdvertisePort, "")
	for endpoint, want := range map[string]bool{"127.0.0.1:2379": true, "no.such.host.invalid:2379": false} {
		if _, certain, err := advertise(t.Context(), utils.NewNetAddr("tcp", "[::]:8888"), "", []string{endpoint}); err != nil || certain != want {
			t.Errorf("%s: certain %v, %v", endpoint, certain, err)
		}
	}
}
