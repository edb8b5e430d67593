// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"slices"
	"time"

	"github.com/fairway-rpc/fairway/internal/live"
)

// table is one immutable list of a service, ready to pick from.
type table struct {
	group // of all instances; without a chooser if they are divided

	plain    bool           // somebody serves and is not closed, without filters and affinity
	simple   bool           // the same, and a pick needs no hash
	division *division      // nil without filters
	places   map[string]int // of addresses in the list
	tally    tally
	aside    int           // how many of these are aside, or due for a trial
	outs     int           // how many of these are aside and not due
	step     time.Duration // after which it should be built again; 0 if nobody warms up

	nodes []*live.Node // what the table was built from
	set   *live.Set    // nil for a plain result
}

// at finds the candidate of an address, nil if there is none.
func (t *table) at(address string) *candidate {
	if place, ok := t.places[address]; ok {
		return t.list[place]
	}
	return nil
}

// newTable builds a table after prev, which is nil at first. Of prev it uses
// again what still holds, since most changes are of one instance in many.
func (s *service) newTable(nodes []*live.Node, set *live.Set, prev *table) *table {
	t := &table{nodes: nodes, set: set}
	if prev == nil {
		prev = &table{}
	}
	t.enter(s, prev)
	now := time.Now()
	t.leaveOut(s, now, prev)
	t.warmUp(now, prev)
	t.serving = t.tally.serving
	t.plain = t.serving > 0 && !t.closed && s.places == nil && s.kept == nil
	t.simple = t.plain && s.hash == nil
	t.enroll(s.kept != nil)
	if s.places != nil {
		t.division = s.divide(t, prev.division)
	} else {
		t.chooser = s.engine.build(t.list, prev.chooser)
	}
	return t
}

// enter lists a candidate for each address. Of two instances with one address
// the later counts.
func (t *table) enter(s *service, prev *table) {
	if len(prev.list) == 0 || len(prev.list) != len(prev.nodes) {
		t.begin(s)
		return
	}
	t.list = make([]*candidate, len(t.nodes))
	unmoved := len(t.nodes) == len(prev.nodes)
	t.tally = prev.tally
	for i, n := range t.nodes {
		if i < len(prev.nodes) && prev.nodes[i] == n { // one object: nothing has changed
			t.list[i] = prev.list[i]
			continue
		}
		unmoved = unmoved && prev.nodes[i].Address == n.Address
		c := newCandidate(n, s.node(n.Address))
		t.list[i] = &c
		if unmoved {
			t.tally.count(prev.list[i], -1)
			t.tally.count(&c, 1)
		}
	}
	if unmoved {
		t.places = prev.places
		return
	}
	t.place()
}

// begin enters the first list. Its candidates lie in memory in order, as all
// changes of single ones leave them, so that walks over them are fast.
func (t *table) begin(s *service) {
	t.list = make([]*candidate, len(t.nodes))
	all := make([]candidate, len(t.nodes))
	for i, n := range t.nodes {
		all[i] = newCandidate(n, s.node(n.Address))
		t.list[i] = &all[i]
	}
	t.place()
}

// tally counts candidates.
type tally struct {
	serving int
	warming int // that serve and want to warm up, or wanted to
}

func (y *tally) count(c *candidate, n int) {
	if c.serving {
		y.serving += n
		if c.warmUp != nil {
			y.warming += n
		}
	}
}

// place finds the place of each address, leaves out all but the last candidate of
// an address, and counts.
func (t *table) place() {
	t.list, t.places = placed(t.list)
	t.tally = tally{}
	for _, c := range t.list {
		t.tally.count(c, 1)
	}
}

// placed finds the place of each address, and leaves out all but the last
// candidate of an address.
func placed(all []*candidate) ([]*candidate, map[string]int) {
	list, places := all[:0], make(map[string]int, len(all))
	for _, c := range all {
		if place, had := places[c.address]; had {
			list[place] = c
			continue
		}
		places[c.address] = len(list)
		list = append(list, c)
	}
	return list, places
}

// none says why nobody can be picked.
func (t *table) none() error {
	if len(t.list) == 0 {
		return ErrEmpty
	}
	return ErrAllDrained
}

// leaveOut takes those who are aside out of the choice, unless all are. Each node
// is looked at once, since calls set them aside meanwhile: who serves and is not
// out must be in the choice. As long as nobody is aside, and nobody was in the
// former table, there is nothing to do.
func (t *table) leaveOut(s *service, now time.Time, former *table) {
	if former.outs == 0 && !s.someAside.Load() {
		return
	}
	out := 0
	for i, c := range t.list {
		look := s.someAside.Load()
		if t.list[i] = c.withOut(look && c.node.isOut(now)); !c.serving {
			continue
		}
		if look && c.node.avoided() {
			t.aside++
		}
		if t.list[i].out {
			out++
		}
	}
	t.outs = out
	t.allAside = out > 0 && out == t.tally.serving
	if t.closed = t.allAside && s.failsClosed(t.list); t.allAside && !t.closed {
		for i, c := range t.list {
			t.list[i] = c.withOut(false)
		}
	}
}

// lists reports whether the table was built from these nodes.
func (t *table) lists(nodes []*live.Node, set *live.Set) bool {
	if len(t.nodes) != len(nodes) || (t.set == nil) != (set == nil) {
		return false
	}
	return len(nodes) == 0 || &t.nodes[0] == &nodes[0] || slices.Equal(t.nodes, nodes)
}

// avoids reports whether the table leaves out just those who are aside now.
func (t *table) avoids(now time.Time) bool {
	if t.allAside != allOut(t.list, now) {
		return false
	}
	return t.allAside || !slices.ContainsFunc(t.list, func(c *candidate) bool { return c.out != c.node.isOut(now) })
}

// isOut reports whether a table should leave the node out: it is aside and not
// due for a trial, or closed.
func (n *node) isOut(now time.Time) bool {
	a := n.aside.Load()
	return a != nil && !a.due(now) || n.closed()
}

// allOut reports whether there is somebody who serves, and all of them are out.
func allOut(list []*candidate, now time.Time) bool {
	serving := false
	for _, c := range list {
		if c.serving && !c.node.isOut(now) {
			return false
		}
		serving = serving || c.serving
	}
	return serving
}

func countAside(list []*candidate) int {
	n := 0
	for _, c := range list {
		if c.serving && c.node.avoided() {
			n++
		}
	}
	return n
}
