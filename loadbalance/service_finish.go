// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import "time"

// finisher is a chooser whose final form takes longer to build than a change
// should take, so that while it is provisional it stands in for that.
type finisher interface {
	chooser
	provisional() bool
	// finish returns what should take its place. Nothing may be built after it
	// meanwhile, or what it returns must not be used.
	finish() chooser
}

// calmFor is how long a list must not have changed before its final form is
// built. That takes 4 ms at most, so that lists which change all the time cost
// less than two per cent of a processor for it.
const calmFor = 250 * time.Millisecond

// finishLater has the final forms built when the list has been calm. Callers hold
// mu.
func (s *service) finishLater(t *table) {
	switch {
	case t.provisional() == nil:
		if s.calm != nil {
			s.calm.Stop()
		}
	case s.calm == nil:
		s.calm = time.AfterFunc(calmFor, s.finish)
	default:
		s.calm.Reset(calmFor)
	}
}

// provisional is a group whose chooser stands in for its final form.
func (t *table) provisional() *group {
	if t.division == nil {
		return t.group.provisional()
	}
	for _, g := range t.division.groups {
		if g.provisional() != nil {
			return g
		}
	}
	return nil
}

func (g *group) provisional() *group {
	if f, ok := g.chooser.(finisher); ok && f.provisional() {
		return g
	}
	return nil
}

// finish builds a final form beside picks and changes, and swaps it in unless the
// list has changed meanwhile. There may be further ones.
func (s *service) finish() {
	t := s.table.Load()
	g := t.provisional()
	if g == nil || s.life.is(gone) {
		return
	}
	final := g.chooser.(finisher).finish()
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.table.Load(); now.division == t.division && now.chooser == t.chooser {
		finished := now.with(g.name, final)
		s.table.Store(finished)
		s.finishLater(finished)
	}
}

// with is the table with another chooser of one group.
func (t *table) with(name string, c chooser) *table {
	other := *t
	if t.division == nil {
		other.chooser = c
	} else {
		other.division = t.division.with(name, c)
	}
	return &other
}
