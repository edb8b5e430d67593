// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import "slices"

// group is the instances among which a call picks: all of a service, or those
// that filters leave.
type group struct {
	name     string // of the filters that it went through, "" for all
	list     []*candidate
	chooser  chooser
	counter  counter              // of the group's own engine, nil for all or if the policy does not count
	serving  int                  // how many get calls
	allAside bool                 // and may be picked, since there is nobody else
	closed   bool                 // and all of these are ejected or unhealthy, and none is to be picked
	members  map[*node]*candidate // if calls have affinity
}

// available reports whether there is somebody who is not set aside.
func (g *group) available() bool { return g != nil && g.serving > 0 && !g.allAside }

// open reports whether there is somebody to try, if only since all are aside.
func (g *group) open() bool { return g.serving > 0 && !g.closed }

// offers reports whether there is somebody who need not be skipped.
func (g *group) offers(skip *skips) bool {
	return g != nil && !g.closed && slices.ContainsFunc(g.list, func(c *candidate) bool { return c.share() > 0 && !skip.has(c) })
}

// fill takes the candidates in. If all who serve are out, calls go to them, unless
// they are closed. Of a table in which everybody is out, nobody says so any more.
func (g *group) fill(list []*candidate, affinity, everybodyOut bool, closed func([]*candidate) bool) {
	g.list = list
	out := 0
	for _, c := range list {
		if !c.serving {
			continue
		}
		g.serving++
		if c.out {
			out++
		}
	}
	g.allAside = everybodyOut || out > 0 && out == g.serving
	g.closed = g.allAside && g.serving > 0 && closed(list)
	if g.allAside && !g.closed && out > 0 {
		g.list = make([]*candidate, len(list))
		for i, c := range list {
			g.list[i] = c.withOut(false)
		}
	}
	g.enroll(affinity)
}

func (g *group) enroll(affinity bool) {
	if !affinity {
		return
	}
	g.members = make(map[*node]*candidate, len(g.list))
	for _, c := range g.list {
		g.members[c.node] = c
	}
}
