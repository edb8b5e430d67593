// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance_test

import (
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/remote"
	"github.com/cloudwego/kitex/pkg/remote/trans/netpoll"

	"github.com/fairway-rpc/fairway/loadbalance"
)

// notingDialer notes whom a client connects to.
type notingDialer struct {
	remote.Dialer

	mu        sync.Mutex
	addresses []string
}

// DialTimeout implements Kitex's Dialer.
func (d *notingDialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	d.mu.Lock()
	d.addresses = append(d.addresses, address)
	d.mu.Unlock()
	return d.Dialer.DialTimeout(network, address, timeout)
}

// taken returns what was noted since it was last called.
func (d *notingDialer) taken() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := d.addresses
	d.addresses = nil
	return all
}

// TestConnectionRetriesWithoutTheSuite: two of three instances refuse
// connections. No call fails, none tries an instance twice, and for the second
// after a failure nobody tries that instance again. Each round has a balancer that
// knows nothing yet; the rounds go on until a call has met with both.
func TestConnectionRetriesWithoutTheSuite(t *testing.T) {
	t.Parallel()
	live := startServers(t, 1)[0]
	hosts := []string{"127.0.0.1:1", "127.0.0.1:2", live}
	for _, policy := range loadbalance.Policies() {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			testConnectionRetries(t, policy, hosts, live)
		})
	}
}

func testConnectionRetries(t *testing.T, policy string, hosts []string, live string) {
	most := 0
	for round := 0; round < 50 && (round < 5 || most < 3); round++ {
		dialer := &notingDialer{Dialer: netpoll.NewDialer()}
		cli := newClient(t, newBalancer(t, policy), client.WithHostPorts(hosts...), client.WithDialer(dialer))
		began := time.Now()
		var all []string
		for call := range 4 {
			if got := ask(t, cli, fmt.Sprintf("round %d, call %d", round, call)); got != live {
				t.Fatalf("%s answered, want %s", got, live)
			}
			dialled := dialer.taken()
			most = max(most, len(dialled))
			checkOnceEach(t, dialled)
			all = append(all, dialled...)
		}
		if time.Since(began) < time.Second {
			checkOnceEach(t, slices.DeleteFunc(all, func(a string) bool { return a == live }))
		}
	}
	if most < 3 {
		t.Errorf("no call has met with both instances that refuse; at most %d connections for one", most)
	}
}

// checkOnceEach checks that nobody was tried twice.
func checkOnceEach(t *testing.T, dialled []string) {
	t.Helper()
	if len(slices.Compact(slices.Sorted(slices.Values(dialled)))) != len(dialled) {
		t.Errorf("tried %v, one of them again while another was left", dialled)
	}
}
