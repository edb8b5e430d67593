// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/fairway-rpc/fairway/internal/due"
	"github.com/fairway-rpc/fairway/internal/lack"
)

// Prober probes suspects until each of them is found dead or is stopped. It is
// safe for concurrent use, and has no goroutine while there is no suspect.
type Prober struct {
	cfg  Config
	wake chan struct{}
	all  sync.WaitGroup

	mu       sync.Mutex
	waiting  due.Queue[*suspect]
	inFlight map[*suspect]context.CancelFunc
	earliest time.Time // of the next probe, for the rate
	running  bool      // the scheduler
	closed   bool
}

// suspect is one Start. It is in the queue, in flight, or done.
type suspect struct {
	network, address string
	dead             func()

	wait   due.Item
	failed bool // the last probe did
	done   bool // found dead or stopped
}

// New returns a Prober without suspects. It must be closed.
func New(cfg Config) *Prober {
	return &Prober{
		cfg:      cfg.withDefaults(),
		wake:     make(chan struct{}, 1),
		waiting:  due.Queue[*suspect]{Of: func(s *suspect) *due.Item { return &s.wait }},
		inFlight: make(map[*suspect]context.CancelFunc),
	}
}

// Start probes address, at once for the first time. When two probes in a row
// have failed, by a refusal, the lack of a route or a time-out, dead is called,
// once, in a goroutine of its own and without locks, and the probes end. A
// probe that fails for want of something in this process, such as a file
// descriptor, does not count.
//
// The probes also end with stop, which may be called at any time, more than
// once and from dead. It waits for nothing. A call of dead that has already
// begun goes on; none begins later. Start has no effect after Close.
func (p *Prober) Start(network, address string, dead func()) (stop func()) {
	s := &suspect{network: network, address: address, dead: dead, wait: due.Item{At: time.Now()}}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.enqueue(s)
	return func() { p.stop(s) }
}

// Close ends all probes and waits for them, and for calls of dead that have
// begun. It may be called more than once, but not from dead.
func (p *Prober) Close() {
	p.mu.Lock()
	p.closed = true
	for p.waiting.Len() > 0 {
		p.waiting.TakeFirst()
	}
	for _, cancel := range p.inFlight {
		cancel()
	}
	p.notify()
	p.mu.Unlock()
	p.all.Wait()
}

func (p *Prober) stop(s *suspect) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.done || p.closed {
		return
	}
	s.done = true
	if cancel, ok := p.inFlight[s]; ok {
		cancel()
	}
	p.waiting.Remove(s)
	p.notify() // the scheduler ends with the last of them
}

// enqueue has s probed when it is due, by the scheduler, which it starts if
// need be. Callers hold mu.
func (p *Prober) enqueue(s *suspect) {
	if p.closed {
		return
	}
	p.waiting.Add(s)
	if !p.running {
		p.running = true
		p.all.Go(p.schedule)
		return
	}
	p.notify()
}

// notify has the scheduler look again.
func (p *Prober) notify() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// schedule begins probes until none is left to wait for.
func (p *Prober) schedule() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		wait, ok := p.begin()
		if !ok {
			return
		}
		timer.Reset(wait)
		select {
		case <-p.wake:
		case <-timer.C:
		}
	}
}

// idle is how long the scheduler waits for a slot: the end of a probe wakes it.
const idle = time.Hour

// begin starts what is due as far as the bounds allow, and returns how long
// until there may be more. It returns false if no suspect waits, upon which the
// scheduler must end.
func (p *Prober) begin() (wait time.Duration, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.waiting.Len() > 0 {
		if len(p.inFlight) >= p.cfg.Concurrency {
			return idle, true
		}
		now, next := time.Now(), p.waiting.First().wait.At
		if p.earliest.After(next) {
			next = p.earliest
		}
		if next.After(now) {
			return next.Sub(now), true
		}
		p.earliest = now.Add(time.Second / time.Duration(p.cfg.Rate))
		p.launch(p.waiting.TakeFirst())
	}
	p.running = false
	return 0, false
}

// launch probes s in a goroutine of its own. Callers hold mu.
func (p *Prober) launch(s *suspect) {
	ctx, cancel := context.WithTimeout(context.Background(), p.cfg.Timeout)
	p.inFlight[s] = cancel
	p.all.Go(func() {
		defer cancel()
		if p.condemned(s, p.cfg.Dial(ctx, s.network, s.address)) {
			s.dead()
		}
		p.land(s)
	})
}

// condemned draws the conclusion from a probe: it returns true once, if s is
// dead.
func (p *Prober) condemned(s *suspect, err error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.done || p.closed {
		return false
	}
	s.wait.At = time.Now().Add(p.cfg.Retry)
	switch {
	case err == nil:
		s.failed, s.wait.At = false, time.Now().Add(jittered(p.cfg.Interval))
	case lack.Is(err):
	case s.failed:
		s.done = true
	default:
		s.failed = true
	}
	return s.done
}

// land frees the slot of s, which dead has held too: a slow callback must not
// pile up goroutines.
func (p *Prober) land(s *suspect) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.inFlight, s)
	if !s.done {
		p.enqueue(s)
		return
	}
	p.notify()
}

// jittered is d give or take a fifth.
func jittered(d time.Duration) time.Duration {
	return d - d/5 + rand.N(2*d/5+1)
}
