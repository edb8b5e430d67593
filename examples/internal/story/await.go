// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"fmt"
	"time"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/examples/internal/load"
)

// patience bounds every wait: what is waited for takes a few seconds at most.
const patience = 20 * time.Second

// await returns when ok reports true, or with an error that wraps
// [ErrNotInTime] and says what was waited for.
func await(ctx context.Context, within time.Duration, what string, ok func() bool) error {
	ctx, cancel := timeout(ctx, within, what)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func timeout(ctx context.Context, within time.Duration, what string) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, within, fmt.Errorf("%w: waited %v until %s", ErrNotInTime, within, what))
}

// enough is a condition: the phase has as many calls as tell shares apart.
func enough(phase *load.Phase) func() bool {
	return func() bool { return phase.Read().Calls >= telling }
}

// sighting is the moment when the consumer first knew something.
type sighting struct {
	at  chan time.Time
	end func()
}

// lookOut begins to look for a snapshot of which seen reports true. The caller
// ends the sighting.
func (c *consumer) lookOut(seen func(*discovery.Snapshot) bool) *sighting {
	s := &sighting{at: make(chan time.Time, 1)}
	s.end = c.resolver.Subscribe(service, func(snapshot *discovery.Snapshot) {
		if !seen(snapshot) {
			return
		}
		select {
		case s.at <- time.Now():
		default: // it was seen before
		}
	})
	return s
}

// await returns when it was seen.
func (s *sighting) await(ctx context.Context, what string) (time.Time, error) {
	ctx, cancel := timeout(ctx, patience, what)
	defer cancel()
	select {
	case at := <-s.at:
		return at, nil
	case <-ctx.Done():
		return time.Time{}, context.Cause(ctx)
	}
}
