// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"context"
	"slices"

	"github.com/cloudwego/kitex/pkg/rpcinfo"

	"github.com/fairway-rpc/fairway/internal/pick"
)

// choose picks an instance. For policies that count, it is counted. What is
// passed fits into registers, which halves the time that a pick takes.
func (s *service) choose(ctx context.Context, request any, info rpcinfo.RPCInfo, attempt *pick.Attempt, t *table) (*candidate, *skips, error) {
	if t.tally.serving == 0 {
		return nil, nil, t.none()
	}
	var hash uint64
	if s.hash != nil {
		h, ok := s.hashOf(ctx, request)
		if !ok {
			return nil, nil, ErrNoKey
		}
		hash = h
	}
	var skip *skips
	if info != nil {
		skip = t.skipsOf(info, attempt)
	}
	if !t.plain {
		return s.chooseWithin(ctx, request, hash, skip, attempt, t)
	}
	c := t.chooser.choose(hash, skip) // as chooseFrom does, but for one call fewer
	if c == nil || s.someAside.Load() {
		return s.chooseAgain(hash, c, skip, attempt, &t.group)
	}
	return c, skip, nil
}

// chooseFrom picks from a group.
func (s *service) chooseFrom(g *group, hash uint64, skip *skips, attempt *pick.Attempt) (*candidate, *skips, error) {
	if g.closed {
		return nil, nil, ErrAllEjected
	}
	c := g.chooser.choose(hash, skip)
	if c == nil || s.someAside.Load() {
		return s.chooseAgain(hash, c, skip, attempt, g)
	}
	return c, skip, nil
}

// hashOf finds the hash of the call, or a random one if it may be without a key.
func (s *service) hashOf(ctx context.Context, request any) (hash uint64, ok bool) {
	hash, ok = s.hash(ctx, request)
	if !ok && s.core.config.optionalKey {
		return s.core.config.rand.Uint64(), true
	}
	return hash, ok
}

// chooseAgain is for the rare cases: nobody was found, or somebody is aside.
func (s *service) chooseAgain(hash uint64, c *candidate, skip *skips, attempt *pick.Attempt, g *group) (*candidate, *skips, error) {
	if c == nil && skip != nil { // the others are aside, or the policy knows a later list than this group
		skip = nil
		c = g.chooser.choose(hash, nil)
	}
	if c != nil && c.node.avoided() {
		c, skip = s.chooseAround(hash, c, skip, attempt, g)
	}
	if c == nil {
		return nil, nil, ErrAllDrained
	}
	return c, skip, nil
}

// note tells the attempt, if there is one, who was picked, or why nobody was.
func (s *service) note(info rpcinfo.RPCInfo, attempt *pick.Attempt, t *table, c *candidate, err error) {
	switch {
	case attempt == nil:
	case c == nil:
		attempt.Note(nil, false, false)
		attempt.Reason = s.explain(info, t, err)
	default:
		attempt.Note(c.node, s.counter != nil, s.isAside(c))
	}
}

// isAside costs a pick one look at a flag as long as nobody is.
func (s *service) isAside(c *candidate) bool {
	return s.someAside.Load() && c.node.aside.Load() != nil
}

// chooseAround is for a candidate that is aside, which the table shows a moment
// later than it is so. The candidate is taken as a trial, if it is time for one.
// Otherwise those are preferred who are not aside and have not been tried, then
// who is not aside, then, as everybody is aside, who has not been tried.
func (s *service) chooseAround(hash uint64, c *candidate, skip *skips, attempt *pick.Attempt, g *group) (*candidate, *skips) {
	if c.node.claim(attempt == nil) || g.allAside {
		return c, skip
	}
	if s.counter != nil {
		s.recount(g, c.node, -1)
	}
	avoid := &skips{aside: true}
	if skip != nil {
		avoid.nodes = skip.nodes
	}
	if other := s.chooseOther(hash, avoid, g); other != nil {
		return other, avoid
	}
	if other := s.chooseOther(hash, &skips{aside: true}, g); other != nil {
		return other, nil
	}
	return s.chooseAside(hash, skip, g)
}

// recount corrects what the group's policy has counted with its choice. Other
// groups are told when somebody has been picked.
func (s *service) recount(g *group, n *node, more int64) {
	n.inFlight.Add(more)
	knows := s.counter
	if g.counter != nil {
		knows = g.counter
	}
	knows.counted(n, more)
}

// chooseOther is the policy's choice among those who are not skipped. It looks
// first if there is anybody, since a policy may take long to find that out.
func (s *service) chooseOther(hash uint64, skip *skips, g *group) *candidate {
	if !slices.ContainsFunc(g.list, func(c *candidate) bool { return c.share() > 0 && !skip.has(c) }) {
		return nil
	}
	return g.chooser.choose(hash, skip)
}

// chooseAside draws among all of the list, since the policy knows only of those
// who were not aside when the table was built.
func (s *service) chooseAside(hash uint64, skip *skips, g *group) (*candidate, *skips) {
	r := hash
	if s.hash == nil {
		r = s.core.config.rand.Uint64()
	}
	c := leftover(g.list, skip, r, (*candidate).fullShare)
	if c == nil {
		skip = nil
		c = leftover(g.list, nil, r, (*candidate).fullShare)
	}
	if c != nil && s.counter != nil {
		s.recount(g, c.node, 1)
	}
	return c, skip
}
