// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	"github.com/cloudwego/kitex/pkg/rpcinfo"

	"github.com/fairway-rpc/fairway/internal/live"
	"github.com/fairway-rpc/fairway/internal/pick"
)

// service is the state of one resolver's service in a balancer. Picks read the
// table; whoever changes it holds mu.
type service struct {
	core    *core
	key     string
	engine  engine
	counter counter // the engine, if it counts
	table   atomic.Pointer[table]
	gone    atomic.Bool // picks must look the key up anew
	idle    atomic.Bool // Kitex says that nobody has asked for a while

	view     *live.View // nil for a plain result
	unfollow func()
	pending  atomic.Int64 // changes that no table shows yet

	mu    sync.Mutex
	nodes map[string]*node
	first *kdiscovery.Instance // identifies the plain list that the table shows
	count int
}

// newService builds the first table at once: a call is waiting for it.
func newService(c *core, res kdiscovery.Result) *service {
	s := &service{core: c, key: res.CacheKey, nodes: make(map[string]*node), view: live.Find(res.CacheKey)}
	s.engine = c.policy.engine(c.config)
	s.counter, _ = s.engine.(counter)
	if s.view == nil {
		s.replace(res.Instances)
		return s
	}
	s.follow(res)
	return s
}

// follow takes its lists from the view from now on.
func (s *service) follow(res kdiscovery.Result) {
	s.mu.Lock()
	s.unfollow = s.view.OnChange(s.changed)
	s.mu.Unlock()
	if s.view.Load() == nil { // about to be published: make do with what Kitex has got
		s.replace(res.Instances)
		return
	}
	s.refresh()
}

// end has picks look the key up anew.
func (s *service) end() {
	s.gone.Store(true)
	s.mu.Lock()
	unfollow := s.unfollow
	s.mu.Unlock()
	if unfollow != nil {
		unfollow()
	}
}

// wake notes that the service is in use again. Kitex has resolved a plain one
// afresh then, without telling what has changed.
func (s *service) wake(res kdiscovery.Result) {
	if !s.idle.Load() {
		return
	}
	if s.view == nil && !s.shows(res.Instances) {
		s.replace(res.Instances)
	}
	s.idle.Store(false)
}

// node returns what is learnt of an address. Callers hold mu.
func (s *service) node(address string) *node {
	n := s.nodes[address]
	if n == nil {
		n = &node{service: s, address: address}
		s.nodes[address] = n
	}
	return n
}

// replace builds a table from a plain list.
func (s *service) replace(instances []kdiscovery.Instance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.first, s.count = firstOf(instances), len(instances)
	s.swap(s.newTable(nodesOf(instances), nil, s.table.Load()))
}

// shows reports whether the table was built from this very slice.
func (s *service) shows(instances []kdiscovery.Instance) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count == len(instances) && s.first == firstOf(instances)
}

func firstOf(instances []kdiscovery.Instance) *kdiscovery.Instance {
	if len(instances) == 0 {
		return nil
	}
	return &instances[0]
}

// changed is called by the publisher of the view. The table is built elsewhere,
// by one goroutine at a time that ends when it has caught up, so that neither
// the publisher nor a pick waits and a burst of changes is built once.
func (s *service) changed() {
	if s.pending.Add(1) == 1 {
		go s.catchUp()
	}
}

func (s *service) catchUp() {
	for {
		seen := s.pending.Load()
		if s.view.Closed() {
			s.core.drop(s)
		} else {
			s.refresh()
		}
		if s.pending.CompareAndSwap(seen, 0) {
			return
		}
	}
}

// refresh builds a table from the view.
func (s *service) refresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	set := s.view.Load()
	if set == nil {
		return
	}
	prev := s.table.Load()
	if prev != nil && prev.set != nil && sameNodes(prev.set, set) {
		relabelled := *prev
		relabelled.set = set
		s.table.Store(&relabelled)
		return
	}
	s.swap(s.newTable(set.Nodes, set, prev))
}

// sameNodes reports whether only what is said about the list has changed.
func sameNodes(a, b *live.Set) bool {
	if len(a.Nodes) != len(b.Nodes) {
		return false
	}
	for i := range a.Nodes {
		if a.Nodes[i] != b.Nodes[i] {
			return false
		}
	}
	return true
}

// swap makes a table the present one and forgets the nodes that are neither
// listed nor busy.
func (s *service) swap(t *table) {
	s.table.Store(t)
	for address, n := range s.nodes {
		if t.byAddress[address] == nil && n.active() == 0 {
			delete(s.nodes, address)
		}
	}
}

// pick chooses an instance and notes it in the attempt, if there is one. For
// policies that count, the candidate is counted.
func (s *service) pick(ctx context.Context, request any, attempt *pick.Attempt, t *table) (*candidate, *skips, error) {
	c, skip, err := s.choose(ctx, request, t)
	if attempt == nil {
		return c, skip, err
	}
	if err != nil {
		attempt.Note(nil, false)
	} else {
		attempt.Note(c.node, s.counter != nil)
	}
	return c, skip, err
}

func (s *service) choose(ctx context.Context, request any, t *table) (*candidate, *skips, error) {
	if t.servingCount == 0 {
		return nil, nil, t.none()
	}
	var hash uint64
	if s.core.policy.hashes {
		h, ok := s.core.config.hash(ctx, request)
		if !ok {
			return nil, nil, ErrNoKey
		}
		hash = h
	}
	skip := t.skipsOf(rpcinfo.GetRPCInfo(ctx))
	c := t.chooser.choose(hash, skip)
	if c == nil && skip != nil { // the policy knows a later list than this table
		skip = nil
		c = t.chooser.choose(hash, nil)
	}
	if c == nil {
		return nil, nil, ErrAllDrained
	}
	return c, skip, nil
}

// idleFor is how long a service that Kitex calls idle keeps its state.
const idleFor = time.Minute

// rest has the state dropped if nobody asks for a while and no call is under
// way. The next pick makes it anew.
func (s *service) rest() {
	if s.idle.Swap(true) {
		return
	}
	time.AfterFunc(idleFor, s.dropIfIdle)
}

func (s *service) dropIfIdle() {
	switch {
	case !s.idle.Load():
	case s.busy():
		time.AfterFunc(idleFor, s.dropIfIdle)
	default:
		s.core.drop(s)
	}
}

func (s *service) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.nodes {
		if n.active() > 0 {
			return true
		}
	}
	return false
}
