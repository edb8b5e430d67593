// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"context"

	"github.com/fairway-rpc/fairway/internal/pick"
	"github.com/fairway-rpc/fairway/loadbalance/internal/hashring"
)

// chooseWithin picks from what filters leave, and whom the call's key has if it
// has affinity.
func (s *service) chooseWithin(ctx context.Context, request any, hash uint64, skip *skips, attempt *pick.Attempt, t *table) (*candidate, *skips, error) {
	key := ""
	if s.kept != nil {
		key = s.core.config.affinityKey(ctx, request)
	}
	g := &t.group
	if t.division != nil {
		end, fellBack := t.division.root.find(ctx, request)
		if end == nil {
			return nil, nil, ErrNoneInSubset
		}
		if g = end.groupOf(s.sideOf(end, hash, key), skip); g.serving == 0 {
			return nil, nil, ErrAllDrained
		}
		noteGroup(attempt, g, fellBack || g == end.far)
	}
	if key == "" {
		return s.chooseCounted(g, hash, skip, attempt)
	}
	return s.chooseKept(key, g, hash, skip, attempt)
}

// noteGroup tells the attempt, if there is one, of the group that it picks among.
func noteGroup(attempt *pick.Attempt, g *group, fellBack bool) {
	if attempt == nil {
		return
	}
	attempt.Subset = g.name
	if fellBack {
		attempt.Fallbacks++
	}
}

// sideOf says which side of a zone the call is on: where there are two, a key
// always has the same one.
func (s *service) sideOf(end *branch, hash uint64, key string) uint64 {
	switch {
	case end.far == nil:
		return 0
	case key != "":
		return stir(hashring.Hash(key))
	case s.hash != nil:
		return stir(hash)
	}
	return s.core.config.rand.Uint64()
}

// chooseCounted is chooseFrom, of which the other groups are told.
func (s *service) chooseCounted(g *group, hash uint64, skip *skips, attempt *pick.Attempt) (*candidate, *skips, error) {
	c, skip, err := s.chooseFrom(g, hash, skip, attempt)
	if c != nil && g.counter != nil {
		c.node.countedBut(g.counter, 1)
	}
	return c, skip, err
}

// chooseKept is whom the key has, as long as that will do, and otherwise whom the
// policy picks for it. Of callers that pick for one key at the same moment the
// first decides.
func (s *service) chooseKept(key string, g *group, hash uint64, skip *skips, attempt *pick.Attempt) (*candidate, *skips, error) {
	now := s.core.config.now()
	had, ok := s.kept.Get(key, now)
	if ok {
		if c := g.usable(had, skip, attempt == nil); c != nil {
			return s.counting(c), skip, nil
		}
	}
	c, skip, err := s.chooseCounted(g, hash, skip, attempt)
	if c == nil {
		return nil, skip, err
	}
	if first := s.kept.Give(key, had, c.node, now); first != c.node {
		if other := g.usable(first, skip, attempt == nil); other != nil {
			if s.counter != nil {
				c.node.End()
			}
			c = s.counting(other)
		}
	}
	return c, skip, nil
}

// usable is the candidate of a node if it can be picked without more ado: nobody
// avoids it, or everybody in the group is avoided. Then it is taken as a trial if
// it is time for one, as any pick of it is.
func (g *group) usable(n *node, skip *skips, unseen bool) *candidate {
	c := g.members[n]
	switch {
	case c == nil || c.share() == 0 || skip.has(c) || g.closed:
		return nil
	case !n.avoided():
		return c
	case !g.allAside:
		return nil
	}
	n.claim(unseen)
	return c
}

// counting counts a candidate that no chooser has picked, if the policy counts.
func (s *service) counting(c *candidate) *candidate {
	if s.counter != nil {
		c.node.Begin()
	}
	return c
}
