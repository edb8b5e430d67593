// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"math"
	"sync/atomic"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"

	"github.com/fairway-rpc/fairway/internal/live"
	"github.com/fairway-rpc/fairway/internal/pick"
	"github.com/fairway-rpc/fairway/loadbalance/internal/leastactive"
)

// candidate is an instance in one immutable list.
type candidate struct {
	instance kdiscovery.Instance
	address  string
	weight   uint64 // configured, in whatever state
	serving  bool   // gets calls: it serves and its weight is above 0
	node     *node
}

// share is the weight that counts: 0 for who gets no calls.
func (c *candidate) share() uint64 {
	if !c.serving {
		return 0
	}
	return c.weight
}

func newCandidate(n live.Node, learnt *node) *candidate {
	return &candidate{
		instance: n.Instance,
		address:  n.Address,
		weight:   uint64(n.Weight),
		serving:  n.Serving && n.Weight > 0,
		node:     learnt,
	}
}

var _ pick.Node = (*node)(nil)

// node is what is learnt about an address. It stays when the list changes
// around it.
type node struct {
	service  *service
	address  string
	inFlight atomic.Int64
	leaf     leastactive.Leaf[*candidate]
}

// Begin implements pick.Node.
func (n *node) Begin() {
	if c := n.service.counter; c != nil {
		c.begin(n)
		return
	}
	n.inFlight.Add(1)
}

// End implements pick.Node.
func (n *node) End() {
	if c := n.service.counter; c != nil {
		c.end(n)
		return
	}
	n.inFlight.Add(-1)
}

// active is the number of calls in flight.
func (n *node) active() int64 {
	if n.service.counter != nil {
		return n.leaf.Count()
	}
	return n.inFlight.Load()
}

// nodesOf makes live nodes of a plain result. Kitex takes a weight that is not
// positive as none.
func nodesOf(instances []kdiscovery.Instance) []live.Node {
	nodes := make([]live.Node, 0, len(instances))
	for _, instance := range instances {
		if instance == nil || instance.Address() == nil {
			continue
		}
		nodes = append(nodes, live.Node{
			Instance: instance,
			Address:  instance.Address().String(),
			Weight:   min(max(instance.Weight(), 0), math.MaxInt32),
			Serving:  true,
		})
	}
	return nodes
}
