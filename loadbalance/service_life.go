// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"sync/atomic"
	"time"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
)

// life is whether a service is in use, one word so that a pick reads one.
type life struct{ bits atomic.Uint32 }

const (
	gone uint32 = 1 << iota // picks must look the key up anew
	idle                    // Kitex says that nobody has asked for a while
)

func (l *life) inUse() bool { return l.bits.Load() == 0 }

func (l *life) is(bit uint32) bool { return l.bits.Load()&bit != 0 }

// begin sets the bit and reports whether it was set.
func (l *life) begin(bit uint32) (was bool) { return l.bits.Or(bit)&bit != 0 }

func (l *life) end(bit uint32) { l.bits.And(^bit) }

// end has picks look the key up anew.
func (s *service) end() {
	s.life.begin(gone)
	s.mu.Lock()
	unfollow := s.unfollow
	for _, timer := range []*time.Timer{s.calm, s.warming} {
		if timer != nil {
			timer.Stop()
		}
	}
	s.mu.Unlock()
	if unfollow != nil {
		unfollow()
	}
	if e := s.ejector.Load(); e != nil {
		e.stop()
	}
	if h := s.health.Load(); h != nil {
		go h.checker.Close() // it waits for checks, which have been cancelled
	}
}

// wake notes that the service is in use again. Kitex has resolved a plain one
// afresh then, without telling what has changed.
func (s *service) wake(res kdiscovery.Result) {
	if !s.life.is(idle) {
		return
	}
	if s.view == nil && !s.shows(res.Instances) {
		s.replace(res.Instances)
	}
	s.life.end(idle)
	s.checkPresent()
}

// idleFor is how long a service that Kitex calls idle keeps its state.
const idleFor = time.Minute

// rest has the state dropped if nobody asks for a while and no call is under
// way. The next pick makes it anew.
func (s *service) rest() {
	if s.life.begin(idle) {
		return
	}
	s.checkPresent()
	time.AfterFunc(idleFor, s.dropIfIdle)
}

func (s *service) dropIfIdle() {
	switch {
	case !s.life.is(idle):
	case s.busy():
		time.AfterFunc(idleFor, s.dropIfIdle)
	default:
		s.core.drop(s)
	}
}

func (s *service) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.nodes {
		if n.active() > 0 {
			return true
		}
	}
	return false
}
