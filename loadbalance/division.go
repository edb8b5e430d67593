// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"maps"
	"slices"

	"github.com/fairway-rpc/fairway/loadbalance/internal/rendezvous"
)

// place is what stays of a group when the list changes.
type place struct {
	engine  engine
	counter counter
	pacer   pacer
}

// division is a list that filters divide into groups.
type division struct {
	root   *branch
	groups map[string]*group
	out    bool // everybody
}

// branch is a filter with what is left by each of its values, or, behind the last
// filter, the groups that calls pick among.
type branch struct {
	filter  *TagFilter
	byValue map[string]*branch
	others  *branch // without regard to the filter; nil if no call may go there

	near, far *group // far is nil without zones
	share     uint64 // of the calls that stay near, in 2^64ths
}

// divide groups the list and builds what has changed of the groups. Callers hold
// mu.
func (s *service) divide(t *table, prev *division) *division {
	d := &division{groups: make(map[string]*group), out: t.allAside}
	d.root = s.grow(d, t.list, nil)
	s.seat(d)
	for name, g := range d.groups {
		p := s.places[name]
		if before := prev.group(name); before == nil {
			g.chooser = p.engine.build(g.list, nil)
		} else if slices.Equal(before.list, g.list) {
			g.chooser = before.chooser
		} else {
			g.chooser = p.engine.build(g.list, before.chooser)
		}
	}
	return d
}

// with is the division with another chooser of one group: its branches are made
// anew, since picks may be at the old ones.
func (d *division) with(name string, c chooser) *division {
	other := &division{groups: maps.Clone(d.groups), out: d.out}
	changed := *d.groups[name]
	changed.chooser = c
	other.groups[name] = &changed
	other.root = d.root.with(other.groups)
	return other
}

func (b *branch) with(groups map[string]*group) *branch {
	if b == nil {
		return nil
	}
	other := *b
	if b.filter == nil {
		other.near = groups[b.near.name]
		if b.far != nil {
			other.far = groups[b.far.name]
		}
		return &other
	}
	other.byValue = make(map[string]*branch, len(b.byValue))
	for value, next := range b.byValue {
		other.byValue[value] = next.with(groups)
	}
	other.others = b.others.with(groups)
	return &other
}

func (d *division) group(name string) *group {
	if d == nil {
		return nil
	}
	return d.groups[name]
}

// grow applies the filters from the one that the path has come to.
func (s *service) grow(d *division, list []*candidate, path []string) *branch {
	filters := s.core.config.filters
	if len(path) == len(filters) {
		return s.leaf(d, list, path)
	}
	f := &filters[len(path)]
	b := &branch{filter: f, byValue: make(map[string]*branch)}
	for value, with := range byTag(list, f) {
		b.byValue[value] = s.grow(d, with, append(slices.Clone(path), tagIs(f.Key, value)))
	}
	if f.Of != nil || f.Preferred {
		b.others = s.grow(d, list, append(slices.Clone(path), "*"))
	}
	return b
}

// byTag sorts candidates by the filter's tag, by those values that a call may
// want.
func byTag(list []*candidate, f *TagFilter) map[string][]*candidate {
	by := make(map[string][]*candidate)
	for _, c := range list {
		value, _ := c.instance.Tag(f.Key)
		if value != "" && (f.Of != nil || value == f.Value) {
			by[value] = append(by[value], c)
		}
	}
	return by
}

// leaf is the end of a path: one group, or two with a zone.
func (s *service) leaf(d *division, list []*candidate, path []string) *branch {
	z := s.core.config.zone
	if z.name == "" {
		return &branch{near: s.newGroup(d, list, pathOf(path))}
	}
	var near, far []*candidate
	for _, c := range list {
		if value, _ := c.instance.Tag(z.tag); value == z.name {
			near = append(near, c)
		} else {
			far = append(far, c)
		}
	}
	home := tagIs(z.tag, z.name)
	return &branch{
		near:  s.newGroup(d, near, pathOf(append(slices.Clone(path), home))),
		far:   s.newGroup(d, far, pathOf(append(slices.Clone(path), "!"+home))),
		share: nearShare(near),
	}
}

func (s *service) newGroup(d *division, list []*candidate, name string) *group {
	cfg := s.core.config
	if cfg.subsetSize > 0 {
		list = slices.DeleteFunc(slices.Clone(list), func(c *candidate) bool { return !c.serving })
		list = rendezvous.Top(cfg.subsetCaller, list, func(c *candidate) string { return c.address }, cfg.subsetSize)
	}
	p := s.places[name]
	if p == nil {
		p = newPlace(s.core.policy, cfg)
		s.places[name] = p
	}
	g := &group{name: name, counter: p.counter}
	g.fill(list, s.kept != nil, d.out, s.failsClosed)
	d.groups[name] = g
	return g
}

func newPlace(p policy, cfg *config) *place {
	e := p.engine(cfg)
	if a, ok := e.(interface{ apart() }); ok {
		a.apart()
	}
	at := &place{engine: e}
	at.counter, _ = e.(counter)
	at.pacer, _ = e.(pacer)
	return at
}
