// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"sync/atomic"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"

	"github.com/fairway-rpc/fairway/internal/live"
)

// following compares each list of one view with the one before.
type following struct {
	follower *follower
	key      string
	view     *live.View
	cancel   func() // guarded by the follower's mutex

	pending atomic.Int64 // changes that catchUp has not seen
	last    []*live.Node // catchUp's
}

// follow begins with the present list. Callers hold f.mu.
func follow(f *follower, key string, view *live.View) *following {
	s := &following{follower: f, key: key, view: view}
	base := view.Load()
	s.last = getsCalls(base)
	s.cancel = view.OnChange(s.changed)
	if view.Load() != base || view.Closed() {
		s.changed()
	}
	return s
}

// changed is called by the publisher, who must not wait: lists are compared by one
// goroutine at a time, which ends when it has caught up.
func (s *following) changed() {
	if s.pending.Add(1) == 1 {
		go s.catchUp()
	}
}

func (s *following) catchUp() {
	for {
		seen := s.pending.Load()
		s.compare()
		if s.pending.CompareAndSwap(seen, 0) {
			return
		}
	}
}

func (s *following) compare() {
	if s.view.Closed() { // no provider has gone by that
		s.follower.leave(s)
		return
	}
	next := getsCalls(s.view.Load())
	prev := s.last
	s.last = next
	if change, changed := changeOf(s.follower.resolver, s.key, prev, next); changed {
		s.follower.tell(change)
	}
}

// getsCalls are the nodes that a resolver returns to Kitex.
func getsCalls(set *live.Set) []*live.Node {
	if set == nil {
		return nil
	}
	nodes := make([]*live.Node, 0, len(set.Nodes))
	for _, n := range set.Nodes {
		if n.Serving && n.Weight > 0 {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// changeOf is what the resolver says of two lists. It is asked about the part
// that differs only, since most changes are of one instance in many.
func changeOf(res kdiscovery.Resolver, key string, prev, next []*live.Node) (*kdiscovery.Change, bool) {
	before, after := prev, next
	for len(before) > 0 && len(after) > 0 && before[0] == after[0] {
		before, after = before[1:], after[1:]
	}
	for len(before) > 0 && len(after) > 0 && before[len(before)-1] == after[len(after)-1] {
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	if len(before)+len(after) == 0 {
		return nil, false
	}
	change, changed := res.Diff(key, resultOf(key, before), resultOf(key, after))
	change.Result = resultOf(key, next)
	return &change, changed
}

func resultOf(key string, nodes []*live.Node) kdiscovery.Result {
	instances := make([]kdiscovery.Instance, len(nodes))
	for i, n := range nodes {
		instances[i] = n.Instance
	}
	return kdiscovery.Result{Cacheable: true, CacheKey: key, Instances: instances}
}
