// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"context"
	"errors"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// statusTimeout is how long a member that is frozen or cut off is asked.
const statusTimeout = 500 * time.Millisecond

var errNoLeader = errors.New("no member leads a majority")

// Leader returns the index in [Cluster.Members] of the member that leads: it
// answers, and it and others, a majority together, name it in the same term. It
// waits for an election that goes on and fails the test when none succeeds.
func (c *Cluster) Leader() int {
	c.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
	defer cancel()
	tick := time.NewTicker(readyPoll)
	defer tick.Stop()
	for {
		if i := leads(c.statuses(ctx)); i >= 0 {
			return i
		}
		select {
		case <-ctx.Done():
			c.check("find the leader", errNoLeader)
		case <-tick.C:
		}
	}
}

// statuses asks all members at once; nil stands for one that does not answer.
func (c *Cluster) statuses(ctx context.Context) []*clientv3.StatusResponse {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	all := make([]*clientv3.StatusResponse, len(c.members))
	var asked sync.WaitGroup
	for i, s := range c.members {
		asked.Go(func() { all[i] = s.status(ctx) })
	}
	asked.Wait()
	return all
}

func (s *Server) status(ctx context.Context) *clientv3.StatusResponse {
	endpoint := s.Endpoint()
	cli, err := newClient(s.config(endpoint))
	if err != nil {
		return nil
	}
	defer func() { _ = cli.Close() }()
	status, err := cli.Status(ctx, endpoint)
	if err != nil {
		return nil
	}
	return status
}

// leads returns the index of the leader, or -1.
func leads(all []*clientv3.StatusResponse) int {
	for i, leader := range all {
		if leader == nil || leader.Leader != leader.Header.MemberId {
			continue
		}
		followers := 0
		for _, status := range all {
			if status != nil && status.Leader == leader.Leader && status.RaftTerm == leader.RaftTerm {
				followers++
			}
		}
		if followers > len(all)/2 {
			return i
		}
	}
	return -1
}
