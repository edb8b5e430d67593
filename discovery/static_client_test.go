// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"
	kloadbalance "github.com/cloudwego/kitex/pkg/loadbalance"
	"github.com/cloudwego/kitex/pkg/loadbalance/lbcache"

	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice"
	"github.com/fairway-rpc/fairway/internal/echotest"
)

// staticClient is a client with Kitex's own balancer, which asks the resolver
// more often than every five seconds.
func staticClient(t *testing.T, s *Static) echoservice.Client {
	t.Helper()
	cli, err := echoservice.NewClient("echo", client.WithResolver(s),
		client.WithLoadBalancer(kloadbalance.NewWeightedBalancer(), &lbcache.Options{RefreshInterval: 20 * time.Millisecond}))
	if err != nil {
		t.Fatal(err)
	}
	return cli
}

// answering is the set of instances that answer ten calls.
func answering(t *testing.T, cli echoservice.Client) map[string]bool {
	t.Helper()
	seen := map[string]bool{}
	for range 10 {
		response, err := cli.Echo(t.Context(), &echo.Request{Message: "hello"})
		if err != nil {
			t.Fatal(err)
		}
		seen[response.Instance] = true
	}
	return seen
}

func TestStaticWithKitexsOwnBalancer(t *testing.T) {
	one, two := echotest.Start(t), echotest.Start(t)
	s := static(t, map[string]int{one.Address: 10})
	cli := staticClient(t, s)
	if seen := answering(t, cli); len(seen) != 1 || !seen[one.Address] {
		t.Fatalf("answers from %v", seen)
	}
	if err := s.Add(two.Address, 10); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "both answer", func() bool { return len(answering(t, cli)) == 2 })
	if err := s.SetWeight(one.Address, 0); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "weight 0 gets no calls", func() bool { return !answering(t, cli)[one.Address] })
	if err := s.SetWeight(one.Address, 10); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(two.Address); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the removed one gets no calls", func() bool { return !answering(t, cli)[two.Address] })
	if err := s.Remove(one.Address); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "nobody is left", func() bool {
		_, err := cli.Echo(t.Context(), &echo.Request{})
		return err != nil
	})
	if err := s.Add(one.Address, 10); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the first is back", func() bool {
		_, err := cli.Echo(t.Context(), &echo.Request{})
		return err == nil
	})
}

func TestStaticWithAUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "echo.sock")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := echotest.StartOn(t, listener)
	if seen := answering(t, staticClient(t, static(t, map[string]int{"unix:" + path: 1}))); !seen[server.Address] {
		t.Errorf("answers from %v", seen)
	}
}

// TestStaticChangesUnderCalls: no call fails for a change, however many there
// are, as long as somebody stays.
func TestStaticChangesUnderCalls(t *testing.T) {
	stays, comes := echotest.Start(t), echotest.Start(t)
	s := static(t, map[string]int{stays.Address: 1})
	cli := staticClient(t, s)
	var calls sync.WaitGroup
	var done atomic.Bool
	for range 4 {
		calls.Go(func() {
			for !done.Load() {
				if _, err := cli.Echo(t.Context(), &echo.Request{}); err != nil {
					t.Errorf("call: %v", err)
					return
				}
			}
		})
	}
	for n := range 200 {
		if err := s.Add(comes.Address, n); err != nil {
			t.Error(err)
		}
		if err := s.SetWeight(comes.Address, n+1); err != nil {
			t.Error(err)
		}
		_ = s.List()
		if n == 100 {
			waitFor(t, "the other gets calls", func() bool { return comes.Calls() > 0 })
		}
		if err := s.Remove(comes.Address); err != nil {
			t.Error(err)
		}
	}
	done.Store(true)
	calls.Wait()
}
