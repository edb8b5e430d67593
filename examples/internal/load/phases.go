// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"sync"
)

// Phases counts calls by when they began: a call that ends in a later phase
// belongs to the one in which it began. So the calls of a phase that begins
// after a change are exactly those that could know of it. Its methods are safe
// for concurrent use.
type Phases struct {
	mu      sync.RWMutex
	current *Phase
}

// Phase is what was counted of the calls that began in it.
type Phase struct {
	counts  Counts
	pending sync.WaitGroup
}

// NewPhases begins the first phase.
func NewPhases() *Phases { return &Phases{current: &Phase{}} }

// Do makes a call and counts it in the present phase.
func (p *Phases) Do(ctx context.Context, call func(context.Context) error) {
	now := p.join()
	defer now.pending.Done()
	now.counts.Do(ctx, call)
}

// join counts a call as begun, under the lock: a phase that is over gets no
// more calls.
func (p *Phases) join() *Phase {
	p.mu.RLock()
	defer p.mu.RUnlock()
	p.current.pending.Add(1)
	return p.current
}

// Now is the present phase.
func (p *Phases) Now() *Phase {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.current
}

// Next begins a new phase and returns it.
func (p *Phases) Next() *Phase {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.current = &Phase{}
	return p.current
}

// Read returns what has been counted so far of the phase.
func (p *Phase) Read() Tally { return p.counts.Read() }

// Whole waits until every call that began in the phase has ended, which is for
// ever while the phase is the present one, and returns what was counted.
func (p *Phase) Whole() Tally {
	p.pending.Wait()
	return p.counts.Read()
}
