// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"context"
	"slices"

	"github.com/cloudwego/kitex/pkg/rpcinfo"

	"github.com/fairway-rpc/fairway/internal/pick"
)

// rpc is what a pick knows of the call that it is for.
type rpc struct {
	ctx     context.Context
	request any
	info    rpcinfo.RPCInfo // nil in a bare context
	attempt *pick.Attempt   // nil without the suite
	hash    uint64          // for policies that hash
}

// pick chooses an instance and notes it in the attempt, if there is one. For
// policies that count, the candidate is counted.
func (s *service) pick(on *rpc, t *table) (*candidate, *skips, error) {
	c, skip, err := s.choose(on, t)
	switch {
	case on.attempt == nil:
	case err != nil:
		on.attempt.Note(nil, false, false)
	default:
		on.attempt.Note(c.node, s.counter != nil, s.isAside(c))
	}
	return c, skip, err
}

func (s *service) choose(on *rpc, t *table) (*candidate, *skips, error) {
	if t.servingCount == 0 {
		return nil, nil, t.none()
	}
	if s.hash != nil && !s.hashOf(on) {
		return nil, nil, ErrNoKey
	}
	var skip *skips
	if on.info != nil {
		skip = t.skipsOf(on)
	}
	c := t.chooser.choose(on.hash, skip)
	if c == nil || s.someAside.Load() {
		return s.chooseAgain(on, c, skip, t)
	}
	return c, skip, nil
}

// hashOf finds the hash of the call, or a random one if it may be without a key.
func (s *service) hashOf(on *rpc) (ok bool) {
	on.hash, ok = s.hash(on.ctx, on.request)
	if !ok && s.core.config.optionalKey {
		on.hash, ok = s.core.config.rand.Uint64(), true
	}
	return ok
}

// chooseAgain is for the rare cases: nobody was found, or somebody is aside.
func (s *service) chooseAgain(on *rpc, c *candidate, skip *skips, t *table) (*candidate, *skips, error) {
	if c == nil && skip != nil { // the others are aside, or the policy knows a later list than this table
		skip = nil
		c = t.chooser.choose(on.hash, nil)
	}
	if c != nil && c.node.aside.Load() != nil {
		c, skip = s.chooseAround(on, c, skip, t)
	}
	if c == nil {
		return nil, nil, ErrAllDrained
	}
	return c, skip, nil
}

// isAside costs a pick one look at a flag as long as nobody is.
func (s *service) isAside(c *candidate) bool {
	return s.someAside.Load() && c.node.aside.Load() != nil
}

// chooseAround is for a candidate that is aside, which the table shows a moment
// later than it is so. The candidate is taken as a trial, if it is time for one.
// Otherwise those are preferred who are not aside and have not been tried, then
// who is not aside, then, as everybody is aside, who has not been tried.
func (s *service) chooseAround(on *rpc, c *candidate, skip *skips, t *table) (*candidate, *skips) {
	if c.node.claim(on.attempt == nil) || t.allAside {
		return c, skip
	}
	if s.counter != nil {
		s.counter.end(c.node)
	}
	avoid := &skips{aside: true}
	if skip != nil {
		avoid.nodes = skip.nodes
	}
	if other := s.chooseOther(on.hash, avoid, t); other != nil {
		return other, avoid
	}
	if other := s.chooseOther(on.hash, &skips{aside: true}, t); other != nil {
		return other, nil
	}
	return s.chooseAside(on.hash, skip, t)
}

// chooseOther is the policy's choice among those who are not skipped. It looks
// first if there is anybody, since a policy may take long to find that out.
func (s *service) chooseOther(hash uint64, skip *skips, t *table) *candidate {
	if !slices.ContainsFunc(t.list, func(c *candidate) bool { return c.share() > 0 && !skip.has(c) }) {
		return nil
	}
	return t.chooser.choose(hash, skip)
}

// chooseAside draws among all of the list, since the policy knows only of those
// who were not aside when the table was built.
func (s *service) chooseAside(hash uint64, skip *skips, t *table) (*candidate, *skips) {
	r := hash
	if s.hash == nil {
		r = s.core.config.rand.Uint64()
	}
	c := leftover(t.list, skip, r, (*candidate).fullShare)
	if c == nil {
		skip = nil
		c = leftover(t.list, nil, r, (*candidate).fullShare)
	}
	if c != nil && s.counter != nil {
		s.counter.begin(c.node)
	}
	return c, skip
}
