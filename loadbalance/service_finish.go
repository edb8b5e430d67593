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

// finishLater has the final form built when the list has been calm. Callers hold
// mu.
func (s *service) finishLater(c chooser) {
	f, ok := c.(finisher)
	switch {
	case !ok || !f.provisional():
		if s.calm != nil {
			s.calm.Stop()
		}
	case s.calm == nil:
		s.calm = time.AfterFunc(calmFor, s.finish)
	default:
		s.calm.Reset(calmFor)
	}
}

// finish builds the final form beside picks and changes, and swaps it in unless
// the list has changed meanwhile.
func (s *service) finish() {
	f, ok := s.table.Load().chooser.(finisher)
	if !ok || !f.provisional() || s.life.is(gone) {
		return
	}
	final := f.finish()
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.table.Load(); t.chooser == f {
		finished := *t
		finished.chooser = final
		s.table.Store(&finished)
	}
}
