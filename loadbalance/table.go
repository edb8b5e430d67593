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
	chooser      chooser
	list         []*candidate
	byAddress    map[string]*candidate
	servingCount int
	aside        int  // how many of these are aside, or due for a trial
	allAside     bool // and may be picked, since there is nobody else

	nodes []live.Node // what the table was built from
	set   *live.Set   // nil for a plain result
}

// newTable builds a table after prev, which is nil at first. Of two instances
// with one address the later counts.
func (s *service) newTable(nodes []live.Node, set *live.Set, prev *table) *table {
	t := &table{
		list:      make([]*candidate, 0, len(nodes)),
		byAddress: make(map[string]*candidate, len(nodes)),
		nodes:     nodes,
		set:       set,
	}
	for _, n := range nodes {
		c := newCandidate(n, s.node(n.Address))
		if old := t.byAddress[n.Address]; old != nil {
			*old = *c
			continue
		}
		t.byAddress[n.Address] = c
		t.list = append(t.list, c)
	}
	for _, c := range t.list {
		if c.serving {
			t.servingCount++
		}
	}
	t.leaveOut(time.Now())
	var before chooser
	if prev != nil {
		before = prev.chooser
	}
	t.chooser = s.engine.build(t.list, before)
	return t
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
// out must be in the choice.
func (t *table) leaveOut(now time.Time) {
	t.aside, t.allAside = countAside(t.list), t.servingCount > 0
	for _, c := range t.list {
		c.out = c.node.isOut(now)
		t.allAside = t.allAside && (c.out || !c.serving)
	}
	if t.allAside {
		for _, c := range t.list {
			c.out = false
		}
	}
}

// lists reports whether the table was built from these nodes.
func (t *table) lists(nodes []live.Node, set *live.Set) bool {
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
// due for a trial.
func (n *node) isOut(now time.Time) bool {
	a := n.aside.Load()
	return a != nil && !a.due(now)
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
		if c.serving && c.node.aside.Load() != nil {
			n++
		}
	}
	return n
}
