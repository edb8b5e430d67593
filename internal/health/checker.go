// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"context"
	"errors"
	"sync"

	"github.com/fairway-rpc/fairway/internal/due"
)

// Func checks one target and returns nil if it is well. It must return soon after
// ctx has ended, and is called concurrently for different targets.
type Func func(ctx context.Context, address string) error

// Report is told of a change of the verdict on a target, with the error of the
// check that made it, and of the outcome of a check that was asked for. It is called
// without locks, in order for each target, concurrently for different ones. The
// slot of its check is held until it returns.
type Report func(address string, healthy bool, err error)

// Checker checks the targets that it is set to. It is safe for concurrent use, and
// has no goroutine while there are no targets.
type Checker struct {
	cfg    Config
	check  Func
	report Report
	wake   chan struct{}
	all    sync.WaitGroup

	mu       sync.Mutex
	targets  map[string]*target
	well     due.Queue[*target] // targets that are healthy and wait
	ill      due.Queue[*target] // targets that are not
	inFlight map[*target]context.CancelFunc
	illNow   int  // of those in flight
	running  bool // the scheduler
	closed   bool
}

// New returns a Checker without targets, which must be closed. It fails with an
// error that names the field of cfg that is wrong.
func New(cfg Config, check Func, report Report) (*Checker, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if check == nil || report == nil {
		return nil, errors.New("a health checker needs functions to check and to report")
	}
	return &Checker{
		cfg:      cfg,
		check:    check,
		report:   report,
		wake:     make(chan struct{}, 1),
		targets:  make(map[string]*target),
		well:     due.Queue[*target]{Of: itemOf},
		ill:      due.Queue[*target]{Of: itemOf},
		inFlight: make(map[*target]context.CancelFunc),
	}, nil
}

// Set makes addresses the targets. Those that are targets already go on as they are;
// new ones are healthy, and checked for the first time within an interval. Those that
// are missing are forgotten: a check under way is cancelled and its outcome dropped; a
// report that was beginning may still come. Set has no effect after Close.
func (c *Checker) Set(addresses []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	listed := make(map[string]struct{}, len(addresses))
	for _, address := range addresses {
		listed[address] = struct{}{}
		if _, ok := c.targets[address]; !ok {
			t := newTarget(address, c.cfg.Interval)
			c.targets[address] = t
			c.queueOf(t).Add(t)
		}
	}
	for address, t := range c.targets {
		if _, ok := listed[address]; !ok {
			c.forget(t)
		}
	}
	c.plan()
}

// Check asks for a check of a target now, or as soon as a slot is free. Its outcome
// is reported in any case: err says how it went, healthy what the verdict then is, for
// which it counts like any other. Of several requests before it begins one is made; a
// check that is under way already does not count as the answer. Check returns false
// if address is no target.
func (c *Checker) Check(address string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.targets[address]
	if !ok {
		return false
	}
	t.asked = true
	if t.wait.Waits() {
		q := c.queueOf(t)
		q.Remove(t)
		t.hurry()
		q.Add(t)
	}
	c.plan()
	return true
}

// Close ends all checks and waits for them and for reports that have begun. It may
// be called more than once, but not from a report.
func (c *Checker) Close() {
	c.mu.Lock()
	c.closed = true
	for _, t := range c.targets {
		c.forget(t)
	}
	c.notify()
	c.mu.Unlock()
	c.all.Wait()
}

// forget drops a target. Callers hold mu.
func (c *Checker) forget(t *target) {
	t.gone = true
	delete(c.targets, t.address)
	c.queueOf(t).Remove(t)
	if cancel, ok := c.inFlight[t]; ok {
		cancel()
	}
}
