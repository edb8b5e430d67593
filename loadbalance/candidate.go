// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"math"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"

	"github.com/fairway-rpc/fairway/internal/live"
)

// candidate is an instance in immutable lists. It is in each list that says the
// same about it.
type candidate struct {
	instance kdiscovery.Instance
	address  string
	weight   uint64       // configured, in whatever state
	placed   uint64       // what the policy goes by, in whatever state
	serving  bool         // gets calls: it serves and its weight is above 0
	out      bool         // gets none for now, since its node is aside
	warmth   uint64       // of warm, how far it has warmed up
	factor   uint64       // what multiplies its share: 1, or its warmth while anybody warms up
	warmUp   *live.WarmUp // nil for almost all
	node     *node
}

// evenly is what everybody weighs where weights do not count: Kitex's default.
const evenly = 10

// share is the weight that counts: 0 for who gets no calls.
func (c *candidate) share() uint64 {
	if c.out {
		return 0
	}
	return c.fullShare()
}

// fullShare is the share that it has when its node is not aside.
func (c *candidate) fullShare() uint64 {
	if !c.serving {
		return 0
	}
	return c.placed * c.factor
}

// presence is the share that it has where weights do not count.
func (c *candidate) presence() uint64 {
	if c.out || !c.serving {
		return 0
	}
	return c.factor
}

func newCandidate(n *live.Node, learnt *node) candidate {
	learnt.suspect.Store(n.Suspect)
	c := candidate{
		instance: n.Instance,
		address:  n.Address,
		weight:   uint64(n.Weight),
		placed:   uint64(n.Weight),
		serving:  n.Serving && n.Weight > 0,
		warmth:   warm,
		factor:   1,
		warmUp:   n.WarmUp,
		node:     learnt,
	}
	if learnt.service.core.config.unweighted && c.placed > 0 {
		c.placed = evenly
	}
	return c
}

// withOut is the candidate with its node aside or not.
func (c *candidate) withOut(out bool) *candidate {
	if c.out == out {
		return c
	}
	other := *c
	other.out = out
	return &other
}

// nodesOf makes live nodes of a plain result. Kitex takes a weight that is not
// positive as none.
func nodesOf(instances []kdiscovery.Instance) []*live.Node {
	nodes := make([]*live.Node, 0, len(instances))
	for _, instance := range instances {
		if instance == nil || instance.Address() == nil {
			continue
		}
		nodes = append(nodes, &live.Node{
			Instance: instance,
			Address:  instance.Address().String(),
			Weight:   min(max(instance.Weight(), 0), math.MaxInt32),
			Serving:  true,
		})
	}
	return nodes
}
