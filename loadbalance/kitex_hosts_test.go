// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance_test

import (
	"fmt"
	"testing"

	"github.com/cloudwego/kitex/client"

	"github.com/fairway-rpc/fairway/loadbalance"
)

// TestHostPortsAlone: a balancer serves a client that has a list of hosts, and
// nothing else of Fairway's.
func TestHostPortsAlone(t *testing.T) {
	t.Parallel()
	hosts := startServers(t, 3)
	for _, policy := range loadbalance.Policies() {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			testHosts(t, policy, hosts)
		})
	}
}

func testHosts(t *testing.T, policy string, hosts []string) {
	lb := newBalancer(t, policy)
	cli := newClient(t, lb, client.WithHostPorts(hosts...))
	const calls = 90
	counts := answers(t, cli, calls)
	for _, host := range hosts {
		least := 8 // of 30 that are due: five standard deviations below
		if policy == loadbalance.RoundRobin || policy == loadbalance.SmoothWRR {
			least = calls / 3
		}
		if counts[host] < least {
			t.Errorf("%s got %d of %d calls, want at least %d: %v", host, counts[host], calls, least, counts)
		}
	}
	if hashing[policy] {
		keysStay(t, lb, hosts)
	}
	waitIdle(t, lb)
}

// keysStay asks twice for each key, by clients that list the hosts in another
// order.
func keysStay(t *testing.T, lb *loadbalance.Balancer, hosts []string) {
	t.Helper()
	forward := newClient(t, lb, client.WithHostPorts(hosts...))
	backward := newClient(t, newBalancer(t, lb.Policy()), client.WithHostPorts(hosts[2], hosts[1], hosts[0]))
	for i := range 30 {
		key := fmt.Sprint("key ", i)
		if first, second := ask(t, forward, key), ask(t, backward, key); first != second {
			t.Errorf("%s went to %s and to %s", key, first, second)
		}
	}
}
