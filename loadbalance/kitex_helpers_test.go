// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"
	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	kloadbalance "github.com/cloudwego/kitex/pkg/loadbalance"

	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice"
	"github.com/fairway-rpc/fairway/internal/echotest"
	"github.com/fairway-rpc/fairway/loadbalance"
)

// hashing are the policies under which a key stays with an instance.
var hashing = map[string]bool{
	loadbalance.ConsistentHash: true, loadbalance.BoundedHash: true, loadbalance.Maglev: true, loadbalance.SourceHash: true,
}

// unweighing are the policies under which weights do not count.
var unweighing = map[string]bool{loadbalance.Random: true, loadbalance.RoundRobin: true}

// newBalancer makes a balancer whose key is the message of the call.
func newBalancer(t testing.TB, policy string) *loadbalance.Balancer {
	t.Helper()
	lb, err := loadbalance.New(policy, loadbalance.WithKey(loadbalance.KeyField((*echo.Request).GetMessage)))
	if err != nil {
		t.Fatal(err)
	}
	return lb
}

// newRandomKeys makes a balancer whose every call has another key.
func newRandomKeys(t testing.TB, policy string) *loadbalance.Balancer {
	t.Helper()
	lb, err := loadbalance.New(policy, loadbalance.WithHash(func(context.Context, any) (uint64, bool) { return rand.Uint64(), true }))
	if err != nil {
		t.Fatal(err)
	}
	return lb
}

// newClient makes a client that has the balancer and nothing else of Fairway's.
// What the generator makes of a client cannot be closed; the garbage collector
// does it.
func newClient(t testing.TB, lb *loadbalance.Balancer, opts ...client.Option) echoservice.Client {
	t.Helper()
	opts = append([]client.Option{client.WithLoadBalancer(lb), client.WithConnectTimeout(time.Second)}, opts...)
	cli, err := echoservice.NewClient("echo", opts...)
	if err != nil {
		t.Fatal(err)
	}
	return cli
}

// ask makes one call that must not fail, and returns who answered.
func ask(t testing.TB, cli echoservice.Client, message string) string {
	t.Helper()
	response, err := cli.Echo(t.Context(), &echo.Request{Message: message})
	if err != nil {
		t.Fatalf("call %q: %v", message, err)
	}
	return response.Instance
}

// answers counts n calls with different messages by who answered.
func answers(t testing.TB, cli echoservice.Client, n int) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for i := range n {
		counts[ask(t, cli, fmt.Sprint("key ", i))]++
	}
	return counts
}

// startServers starts n servers that end with the test and its subtests.
func startServers(t *testing.T, n int) []string {
	t.Helper()
	addresses := make([]string, n)
	for i := range addresses {
		addresses[i] = echotest.Start(t).Address
	}
	return addresses
}

// instancesOf makes instances of addresses that have the same weight.
func instancesOf(weight int, addresses ...string) []kdiscovery.Instance {
	all := make([]kdiscovery.Instance, len(addresses))
	for i, address := range addresses {
		all[i] = kdiscovery.NewInstance("tcp", address, weight, nil)
	}
	return all
}

// inFlight sums what the balancer counts on each instance, by address.
func inFlight(lb *loadbalance.Balancer) (total int64, byAddress map[string]int64) {
	byAddress = map[string]int64{}
	for _, s := range lb.State() {
		for _, i := range s.Instances {
			byAddress[i.Address] += i.InFlight
			total += i.InFlight
		}
	}
	return total, byAddress
}

// waitIdle waits until no call is counted as under way.
func waitIdle(t testing.TB, lb *loadbalance.Balancer) {
	t.Helper()
	waitUntil(t, "no call is in flight", func() bool {
		_, byAddress := inFlight(lb)
		for _, n := range byAddress {
			if n != 0 {
				return false
			}
		}
		return true
	})
}

// waitUntil waits until ok, or fails the test.
func waitUntil(t testing.TB, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Second, errors.New(what))
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("not within 10s: %v", context.Cause(ctx))
		}
	}
}

// recycle is what Kitex does when an attempt has ended.
func recycle(p kloadbalance.Picker) {
	if r, ok := p.(interface{ Recycle() }); ok {
		r.Recycle()
	}
}
