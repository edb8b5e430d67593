// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package live

import "sync/atomic"

// suspectFails is how many failed calls in a row drop a suspect.
const suspectFails = 2

// dropped is the end of the count.
const dropped = -1

// Suspect is an instance that has vanished from the registry without saying so
// and is kept until its calls tell more. It is safe for concurrent use.
type Suspect struct {
	drop   func()
	failed atomic.Int32 // calls in a row, or dropped
}

// NewSuspect makes a suspect. When two calls in a row have failed, drop is
// called: once, in a goroutine of its own, so that it may block and take locks.
func NewSuspect(drop func()) *Suspect { return &Suspect{drop: drop} }

// Call tells how a call to the suspect went. It never blocks. A call that says
// nothing about the instance must not be told.
func (s *Suspect) Call(failed bool) {
	for {
		before := s.failed.Load()
		after := int32(0)
		if failed {
			after = before + 1
		}
		if before == dropped || before == after {
			return
		}
		if after == suspectFails {
			after = dropped
		}
		if !s.failed.CompareAndSwap(before, after) {
			continue
		}
		if after == dropped {
			go s.drop()
		}
		return
	}
}
