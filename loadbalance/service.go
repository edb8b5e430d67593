// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"

	"github.com/fairway-rpc/fairway/internal/live"
	"github.com/fairway-rpc/fairway/loadbalance/internal/affinity"
	"github.com/fairway-rpc/fairway/loadbalance/internal/pace"
)

// service is the state of one resolver's service in a balancer. Picks read the
// table; whoever changes it holds mu.
type service struct {
	core    *core
	key     string
	engine  engine
	counter counter                                               // the engine, if it counts
	pacer   pacer                                                 // the engine, if it goes by how long calls take
	hash    func(ctx context.Context, request any) (uint64, bool) // nil for policies that do not hash
	table   atomic.Pointer[table]
	life    life

	places map[string]*place      // of the groups, nil if there is but one
	kept   *affinity.Table[*node] // nil without affinity

	ejector atomic.Pointer[ejector] // nil without ejection
	health  atomic.Pointer[checked] // nil without health checks

	someAside atomic.Bool // whether picks must look if a node is aside
	warming   *time.Timer // runs while somebody warms up
	calm      *time.Timer // runs while the table's chooser is provisional

	view     *live.View // nil for a plain result
	unfollow func()
	pending  atomic.Int64 // changes that no table shows yet

	_    [64]byte // callers write what follows
	mean pace.Mean
	_    [64]byte

	mu    sync.Mutex
	nodes map[string]*node
	first *kdiscovery.Instance // identifies the plain list that the table shows
	count int
}

// newService builds the first table at once: a call is waiting for it.
func newService(c *core, res kdiscovery.Result) *service {
	s := &service{core: c, key: res.CacheKey, nodes: make(map[string]*node), view: live.Find(res.CacheKey)}
	s.engage(true)
	if e := c.ejection.Load(); e != nil {
		s.startEjecting(e)
	}
	if s.view == nil {
		s.replace(res.Instances)
	} else {
		s.follow(res)
	}
	if h := c.healthCheck.Load(); h != nil {
		s.startChecking(h)
	}
	return s
}

// engage makes the engine of the policy.
// Only instances of resolvers are divided by filters and kept by affinity.
func (s *service) engage(instances bool) {
	p, cfg := s.core.policy, s.core.config
	s.engine = p.engine(cfg)
	s.counter, _ = s.engine.(counter)
	s.pacer, _ = s.engine.(pacer)
	if instances && cfg.divides() {
		s.places = make(map[string]*place)
		if s.counter != nil {
			s.counter = spread{}
		}
		if s.pacer != nil {
			s.pacer = spread{}
		}
	}
	if instances && cfg.affinityKey != nil {
		s.kept = affinity.New[*node](int64(cfg.affinityTime), MaxAffinityKeys)
	}
	if p.hashes || p.mayHash {
		s.hash = cfg.hash
	}
}

// follow takes its lists from the view from now on.
func (s *service) follow(res kdiscovery.Result) {
	s.mu.Lock()
	s.unfollow = s.view.Watch(s.changed, s.settle)
	s.mu.Unlock()
	if s.view.Load() == nil { // about to be published: make do with what Kitex has got
		s.replace(res.Instances)
		return
	}
	s.refresh()
}

// node returns what is learnt of an address. Callers hold mu.
func (s *service) node(address string) *node {
	n := s.nodes[address]
	if n == nil {
		n = &node{service: s, address: address}
		n.leaf.Share(&n.inFlight)
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

// changed is called by the publisher of the view, and when a node is set aside
// or may come back. The table is built elsewhere, by one goroutine at a time
// that ends when it has caught up, so that neither the publisher nor a call
// waits and a burst of changes is built once.
func (s *service) changed() {
	if s.pending.Add(1) == 1 {
		go s.catchUp()
	}
}

func (s *service) catchUp() {
	for {
		seen := s.pending.Load()
		switch {
		case s.view != nil && s.view.Closed():
			s.core.drop(s)
		case !s.life.is(gone):
			s.refresh()
		}
		if s.pending.CompareAndSwap(seen, 0) {
			return
		}
	}
}

// settle returns when the table shows the present list of the view. Its publisher
// waits for that where the next pick must see a change.
func (s *service) settle() {
	if !s.life.is(gone) {
		s.refresh()
	}
}

// refresh builds a table from the latest list, unless the present one is still
// right but for what is said about it.
func (s *service) refresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	prev := s.table.Load()
	nodes, set := s.latest(prev)
	if prev == nil && set == nil {
		return
	}
	if prev == nil || prev.step > 0 || !prev.lists(nodes, set) || !prev.avoids(time.Now()) || s.closesOtherwise(prev) {
		s.swap(s.newTable(nodes, set, prev))
	} else {
		relabelled := *prev
		relabelled.nodes, relabelled.set, relabelled.aside = nodes, set, countAside(prev.list)
		s.table.Store(&relabelled)
	}
	s.noteAside()
}

// latest is the list of the view, or as long as there is none that of the
// present table.
func (s *service) latest(prev *table) ([]*live.Node, *live.Set) {
	if s.view != nil {
		if set := s.view.Load(); set != nil {
			return set.Nodes, set
		}
	}
	if prev == nil {
		return nil, nil
	}
	return prev.nodes, prev.set
}

// swap makes a table the present one and forgets the nodes that are neither
// listed nor busy.
func (s *service) swap(t *table) {
	s.table.Store(t)
	s.finishLater(t)
	s.warmLater(t)
	s.checkThose(t)
	s.sweepLater(t)
	if len(s.nodes) == len(t.list) {
		return // each has its node
	}
	for address, n := range s.nodes {
		if t.at(address) == nil && n.active() == 0 {
			delete(s.nodes, address)
		}
	}
}
