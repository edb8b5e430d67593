// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Cluster is several etcd processes that agree on one state. Each member can
// fail alone: everything that [Server] does, but for Wipe and Restore.
type Cluster struct {
	tb      testing.TB
	members []*Server
}

// StartCluster runs n members, best an odd number, with the same options, and
// returns when each answers a linearizable read. They end with the test.
func StartCluster(tb testing.TB, n int, opts ...Option) *Cluster {
	tb.Helper()
	c := newCluster(tb, n, opts)
	c.startOnFreePorts()
	return c
}

// newCluster returns members that are down.
func newCluster(tb testing.TB, n int, opts []Option) *Cluster {
	tb.Helper()
	c := &Cluster{tb: tb}
	for i := range n {
		s := newServer(tb, fmt.Sprintf("member%d", i), opts)
		c.members = append(c.members, s)
		s.member, s.token = true, c.members[0].token
	}
	c.check("choose ports", c.pickPorts())
	return c
}

func (c *Cluster) startOnFreePorts() {
	c.tb.Helper()
	c.locked(func() {
		c.tb.Helper()
		c.check("start the cluster", startOnFreePorts(c.members, c.pickPorts))
	})
}

// Members returns the servers, in an order that stays.
func (c *Cluster) Members() []*Server { return slices.Clone(c.members) }

// Endpoints returns the members' client addresses as host:port, in their order.
func (c *Cluster) Endpoints() []string {
	endpoints := make([]string, len(c.members))
	for i, s := range c.members {
		endpoints[i] = s.Endpoint()
	}
	return endpoints
}

// Client is [Server.Client] with the endpoints of all members.
func (c *Cluster) Client(tb testing.TB, change ...func(*clientv3.Config)) *clientv3.Client {
	tb.Helper()
	return testClient(tb, c.members[0].config(c.Endpoints()...), change)
}

// RestartDown starts the members that are down, all at once, as it takes when a
// majority is: [Server.Restart] of the first would wait for the second. It
// returns when each of them answers a linearizable read.
func (c *Cluster) RestartDown() {
	c.tb.Helper()
	c.locked(func() {
		c.tb.Helper()
		down := slices.DeleteFunc(c.Members(), func(s *Server) bool { return s.proc.alive() })
		if len(down) > 0 {
			c.check("restart members", bringUp(down...))
		}
	})
}

func (c *Cluster) pickPorts() error {
	peers := make([]string, len(c.members))
	for i, s := range c.members {
		if err := s.pickPorts(); err != nil {
			return err
		}
		peers[i] = s.cluster
	}
	for _, s := range c.members {
		s.cluster = strings.Join(peers, ",")
	}
	return nil
}

// locked runs f while it holds every member's lock.
func (c *Cluster) locked(f func()) {
	for _, s := range c.members {
		s.mu.Lock()
	}
	defer func() {
		for _, s := range c.members {
			s.mu.Unlock()
		}
	}()
	f()
}

// check ends the test on an error, with the end of every member's output.
func (c *Cluster) check(doing string, err error) {
	c.tb.Helper()
	if err == nil {
		return
	}
	tails := make([]string, len(c.members))
	for i, s := range c.members {
		tails[i] = s.logTail()
	}
	c.tb.Fatalf("etcdtest: %s: %v\n%s", doing, err, strings.Join(tails, "\n"))
}
