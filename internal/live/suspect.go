// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"math"
	"sync/atomic"
)

// dropped is the end of the count.
const dropped = math.MaxUint64

// Suspect is an instance that has vanished from the registry without saying so
// and is kept until its calls tell more. It is safe for concurrent use.
type Suspect struct {
	drop func()
	// turns counts how often the suspect has come to have failed and to have
	// answered again. It is odd while the last word is a failure, or dropped.
	turns atomic.Uint64
}

// NewSuspect makes a suspect. When two calls in a row have failed, drop is
// called: once, in a goroutine of its own, so that it may block and take locks.
func NewSuspect(drop func()) *Suspect { return &Suspect{drop: drop} }

// Begin returns what Broke wants to know of the moment at which a call begins. It
// is 0 for a suspect that is none yet.
func (s *Suspect) Begin() uint64 { return s.turns.Load() }

// Call tells how a call to the suspect went. It never blocks. A call that says
// nothing about the instance must not be told.
func (s *Suspect) Call(failed bool) { s.turn(failed, dropped) }

// Broke is Call for one that failed since its connection broke, and that began at
// a moment of Begin. Many calls may be on one connection: only one that began
// when another had failed already is the second in a row.
func (s *Suspect) Broke(began uint64) { s.turn(true, began) }

// turn counts a call; began is dropped if it counts whenever it began.
func (s *Suspect) turn(failed bool, began uint64) {
	for {
		before := s.turns.Load()
		hasFailed := before%2 == 1
		after := before + 1
		switch {
		case before == dropped, !failed && !hasFailed, failed && hasFailed && began != before && began != dropped:
			return
		case failed && hasFailed:
			after = dropped
		}
		if !s.turns.CompareAndSwap(before, after) {
			continue
		}
		if after == dropped {
			go s.drop()
		}
		return
	}
}
