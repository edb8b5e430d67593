// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/client/callopt"
	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	"github.com/cloudwego/kitex/pkg/rpcinfo"

	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice"
	"github.com/fairway-rpc/fairway/loadbalance"
)

// tagged resolves the service that a tag of the call names, so that one client
// calls several. It is one of several resolvers that differ by name.
func tagged(name string, services map[string][]string) kdiscovery.Resolver {
	return &kdiscovery.SynthesizedResolver{
		NameFunc: func() string { return name },
		TargetFunc: func(_ context.Context, target rpcinfo.EndpointInfo) string {
			return target.DefaultTag("service", "")
		},
		ResolveFunc: func(_ context.Context, service string) (kdiscovery.Result, error) {
			return kdiscovery.Result{Cacheable: true, CacheKey: service, Instances: instancesOf(10, services[service]...)}, nil
		},
	}
}

// TestOneBalancerForManyServices: two clients with one balancer call three
// services, of which they share one, at the same time. A service of the same name
// that another resolver finds elsewhere is a fourth.
func TestOneBalancerForManyServices(t *testing.T) {
	t.Parallel()
	hosts := startServers(t, 8)
	here := map[string][]string{"a": hosts[:2], "b": hosts[2:4], "c": hosts[4:6]}
	there := map[string][]string{"a": hosts[6:]}
	for _, policy := range loadbalance.Policies() {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			lb := newBalancer(t, policy)
			one := newClient(t, lb, client.WithResolver(tagged("here", here)))
			two := newClient(t, lb, client.WithResolver(tagged("here", here)))
			other := newClient(t, lb, client.WithResolver(tagged("there", there)))
			var all sync.WaitGroup
			var got shared
			all.Go(func() { got.call(t, one, "here", "a", "b") })
			all.Go(func() { got.call(t, two, "here", "b", "c") })
			all.Go(func() { got.call(t, other, "there", "a") })
			all.Wait()
			got.check(t, policy, "here:a", here["a"], sharedCalls)
			got.check(t, policy, "here:b", here["b"], 2*sharedCalls)
			got.check(t, policy, "here:c", here["c"], sharedCalls)
			got.check(t, policy, "there:a", there["a"], sharedCalls)
			checkStates(t, lb, map[string][]string{"here:a": here["a"], "here:b": here["b"], "here:c": here["c"], "there:a": there["a"]})
			waitIdle(t, lb)
		})
	}
}

// sharedCalls is how often each client calls each of its services.
const sharedCalls = 60

// shared counts answers by service and instance.
type shared struct {
	mu     sync.Mutex
	counts map[string]map[string]int
}

// call calls services in turn.
func (s *shared) call(t *testing.T, cli echoservice.Client, resolver string, services ...string) {
	t.Helper()
	for i := range sharedCalls {
		for _, service := range services {
			response, err := cli.Echo(t.Context(), &echo.Request{Message: fmt.Sprint("key ", i)}, callopt.WithTag("service", service))
			if err != nil {
				t.Errorf("service %s: %v", service, err)
				return
			}
			s.note(resolver+":"+service, response.Instance)
		}
	}
}

func (s *shared) note(service, instance string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts == nil {
		s.counts = map[string]map[string]int{}
	}
	if s.counts[service] == nil {
		s.counts[service] = map[string]int{}
	}
	s.counts[service][instance]++
}

// check checks that a service's calls were answered by its own two instances,
// and that these share them: exactly, where they go in turn, which calls of
// other services must not disturb.
func (s *shared) check(t *testing.T, policy, service string, own []string, calls int) {
	t.Helper()
	counts := s.counts[service]
	least := 5 // of 30 keys that are due, and these are but 60
	if policy == loadbalance.RoundRobin || policy == loadbalance.SmoothWRR {
		least = calls / 2
	}
	a, b := counts[own[0]], counts[own[1]]
	if a+b != calls || a < least || b < least {
		t.Errorf("%d calls of %s went to %v, want at least %d to each of %v", calls, service, counts, least, own)
	}
}

// checkStates checks that there is one state for each service, of its instances.
func checkStates(t *testing.T, lb *loadbalance.Balancer, want map[string][]string) {
	t.Helper()
	states := lb.State()
	if len(states) != len(want) {
		t.Errorf("%d states, want %d: %v", len(states), len(want), states)
	}
	for _, s := range states {
		var addresses []string
		for _, i := range s.Instances {
			addresses = append(addresses, i.Address)
		}
		if !slices.Equal(addresses, want[s.Key]) {
			t.Errorf("the state of %s has %v, want %v", s.Key, addresses, want[s.Key])
		}
	}
}
