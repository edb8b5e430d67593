// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"context"
	"fmt"
	"time"

	"github.com/fairway-rpc/fairway/internal/due"
)

// plan has the scheduler look again, and starts it if need be. Callers hold mu.
func (c *Checker) plan() {
	if !c.running && len(c.targets) > 0 {
		c.running = true
		c.all.Go(c.schedule)
		return
	}
	c.notify()
}

func (c *Checker) notify() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// schedule begins checks until there is no target.
func (c *Checker) schedule() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		wait, ok := c.begin()
		if !ok {
			return
		}
		timer.Reset(wait)
		select {
		case <-c.wake:
		case <-timer.C:
		}
	}
}

// idle is how long the scheduler waits for a slot or a target: both wake it.
const idle = time.Hour

// begin starts the checks that are due as far as there are slots, and returns how
// long until there may be more. It returns false without targets, upon which the
// scheduler must end.
func (c *Checker) begin() (wait time.Duration, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.targets) == 0 {
		c.running = false
		return 0, false
	}
	for {
		q := c.first()
		if q == nil {
			return idle, true
		}
		if wait = time.Until(q.First().wait.At); wait > 0 {
			return wait, true
		}
		c.launch(q.TakeFirst())
	}
}

// first returns the queue with the target that has been due for longest, of those
// for which there is a slot, or nil.
func (c *Checker) first() *due.Queue[*target] {
	slots := c.cfg.Concurrency
	well := c.well.Len() > 0 && len(c.inFlight) < slots
	ill := c.ill.Len() > 0 && len(c.inFlight) < slots && c.illNow < max(slots/2, 1)
	switch {
	case well && (!ill || !c.ill.First().wait.At.Before(c.well.First().wait.At)):
		return &c.well
	case ill:
		return &c.ill
	default:
		return nil
	}
}

func (c *Checker) queueOf(t *target) *due.Queue[*target] {
	if t.healthy {
		return &c.well
	}
	return &c.ill
}

// launch checks t in a goroutine of its own. Callers hold mu.
func (c *Checker) launch(t *target) {
	ctx, cancel := context.WithTimeout(context.Background(), c.cfg.Timeout)
	c.inFlight[t] = cancel
	wasIll, asked := !t.healthy, t.asked
	t.asked = false
	if wasIll {
		c.illNow++
	}
	c.all.Go(func() {
		defer cancel()
		err := c.safely(ctx, t.address)
		if healthy, tell := c.conclude(t, err, asked); tell {
			c.report(t.address, healthy, err)
		}
		c.land(t, wasIll)
	})
}

// safely turns a panic of a check into its error: the caller's own function is not
// to take the process down from a goroutine that it has never seen.
func (c *Checker) safely(ctx context.Context, address string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the health check of %s panicked: %v", address, p)
		}
	}()
	return c.check(ctx, address)
}

// conclude takes in the outcome of a check, and returns the verdict and whether it is
// to be reported.
func (c *Checker) conclude(t *target, err error, asked bool) (healthy, tell bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.gone {
		return false, false
	}
	changed := t.observe(err, c.cfg)
	return t.healthy, changed || asked
}

// land frees the slot of t, which the report has held too: a slow one must not pile
// up goroutines.
func (c *Checker) land(t *target, wasIll bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.inFlight, t)
	if wasIll {
		c.illNow--
	}
	if !t.gone {
		t.schedule(c.cfg)
		c.queueOf(t).Add(t)
	}
	c.notify()
}
