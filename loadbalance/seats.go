// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

// seat tells each node which groups take account of its calls, before they are
// built: a call that begins meanwhile is seen by the one or the other. Places of
// groups that are no more are given up.
func (s *service) seat(d *division) {
	for name := range s.places {
		if d.groups[name] == nil {
			delete(s.places, name)
		}
	}
	if !s.core.counts {
		return
	}
	seats := make(map[*node][]*place)
	for name, g := range d.groups {
		for _, c := range g.list {
			seats[c.node] = append(seats[c.node], s.places[name])
		}
	}
	for _, n := range s.nodes {
		at := seats[n]
		n.seats.Store(&at)
	}
}

// spread is the counter and pacer of a service whose instances are in several
// groups.
type spread struct{}

func (spread) counted(n *node, more int64) { n.countedBut(nil, more) }

func (spread) paced(n *node, now int64) {
	if seats := n.seats.Load(); seats != nil {
		for _, p := range *seats {
			if p.pacer != nil {
				p.pacer.paced(n, now)
			}
		}
	}
}

// countedBut tells all groups that the node is in, but for one that knows already.
func (n *node) countedBut(knows counter, more int64) {
	if seats := n.seats.Load(); seats != nil {
		for _, p := range *seats {
			if p.counter != knows {
				p.counter.counted(n, more)
			}
		}
	}
}
