// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"fmt"
	"time"

	"github.com/fairway-rpc/fairway/discovery"
)

func steady(ctx context.Context, s *stage) (Finding, error) {
	shares, err := s.follows(ctx, s.turns[0])
	return Finding{Shares: shares, Shows: "The calls follow the weights."}, err
}

func changeWeight(ctx context.Context, s *stage) (Finding, error) {
	p := s.providers[0]
	p.weight = lightWeight
	seen, err := s.change(ctx, fmt.Sprintf("the consumer sees the weight %d", p.weight),
		func(snapshot *discovery.Snapshot) bool { return weightOf(snapshot, p.address) == p.weight },
		func() error { return p.registry.SetWeight(ctx, service, p.weight) })
	if err != nil {
		return Finding{}, err
	}
	shares, err := s.follows(ctx, s.turn())
	return Finding{SeenMS: ms(seen), Shares: shares, Shows: fmt.Sprintf(
		"The consumer knew %s later, and the calls since then follow the new weights.", brief(seen))}, err
}

func drainAndUndrain(ctx context.Context, s *stage) (Finding, error) {
	p := s.providers[1]
	seen, err := s.change(ctx, "the consumer sees the drain",
		func(snapshot *discovery.Snapshot) bool { return weightOf(snapshot, p.address) == 0 },
		func() error { return p.registry.Drain(ctx) })
	if err != nil {
		return Finding{}, err
	}
	drained := s.turn()
	if err := await(ctx, patience, "calls go on without the drained provider", enough(drained)); err != nil {
		return Finding{}, err
	}
	s.turn()
	without := drained.Whole()
	reached := without.Instances[p.address].Calls
	if reached > 0 {
		return Finding{}, fmt.Errorf("%w: %d of %d calls went to the drained provider", ErrUnexpected, reached, without.Calls)
	}
	back, err := s.change(ctx, "the consumer sees the end of the drain",
		func(snapshot *discovery.Snapshot) bool { return weightOf(snapshot, p.address) == p.weight },
		func() error { return p.registry.Undrain(ctx) })
	if err != nil {
		return Finding{}, err
	}
	shares, err := s.follows(ctx, s.turn())
	return Finding{SeenMS: ms(seen), DrainedCalls: &reached, Shares: shares, Shows: fmt.Sprintf(
		"The consumer knew %s later: of the %s calls after that, %d went to provider %d. It knew of the end %s later, and the shares are back.",
		brief(seen), thousands(without.Calls), reached, p.number, brief(back))}, err
}

// change makes a change and returns how long it took until the consumer saw it.
func (s *stage) change(ctx context.Context, what string, seen func(*discovery.Snapshot) bool, do func() error) (time.Duration, error) {
	sight := s.consumer.lookOut(seen)
	defer sight.end()
	began := time.Now()
	if err := do(); err != nil {
		return 0, err
	}
	at, err := sight.await(ctx, what)
	return at.Sub(began), err
}
