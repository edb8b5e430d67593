// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"fmt"
	"time"

	"github.com/fairway-rpc/fairway/examples/internal/load"
)

// wipeEtcd keeps the providers away from the empty etcd for a while, so that the
// consumer surely sees it empty. Otherwise either may be the first to be back.
func wipeEtcd(ctx context.Context, s *stage) (Finding, error) {
	before, all := s.consumer.status(), s.alive()
	s.gate.shut.Store(true)
	defer s.gate.shut.Store(false)
	s.etcd.Stop()
	if err := s.etcd.Wipe(); err != nil {
		return Finding{}, err
	}
	if err := s.etcd.Start(ctx); err != nil {
		return Finding{}, err
	}
	served := time.Now()
	err := await(ctx, patience, "the consumer finds etcd empty, and the guard holds all providers", func() bool {
		known := s.consumer.snapshot()
		return live(known) && known.Revision < before.Revision && known.Suspects == all
	})
	if err != nil {
		return Finding{}, err
	}
	found := time.Since(served)
	held, err := s.held(ctx)
	if err != nil {
		return Finding{}, err
	}
	back, err := s.letBack(ctx, all)
	if err != nil {
		return Finding{}, err
	}
	shares, err := s.follows(ctx, s.turn())
	r := registryOf(before, s.consumer.status())
	return Finding{SeenMS: ms(found), Shares: shares, Registry: &r, Shows: fmt.Sprintf(
		"The consumer found an empty etcd %s after it served, with nobody registered. The guard held the %d providers, which had vanished without a word: they got the next %s calls as before. "+
			"Then they could reach etcd and were back in %s, so that the guard held none any more. Revision %d became %d, %s.",
		brief(found), r.Held, thousands(held.Calls), brief(back), r.Before, r.Revision, r.cluster())}, err
}

// held counts calls while nobody is registered.
func (s *stage) held(ctx context.Context) (load.Tally, error) {
	phase := s.turn()
	if _, err := s.follows(ctx, phase); err != nil {
		return load.Tally{}, err
	}
	leases, err := s.leases(ctx)
	if err != nil {
		return load.Tally{}, err
	}
	if n := len(leases); n > 0 {
		return load.Tally{}, fmt.Errorf("%w: %d providers are in the empty etcd, which they cannot reach", ErrUnexpected, n)
	}
	s.turn()
	return phase.Whole(), nil
}

// letBack lets the providers reach etcd and returns how long it took until all
// were registered and none a suspect.
func (s *stage) letBack(ctx context.Context, all int) (time.Duration, error) {
	began := time.Now()
	s.gate.shut.Store(false)
	if err := s.registered(ctx); err != nil {
		return 0, err
	}
	err := await(ctx, patience, "the guard releases the providers", func() bool {
		known := s.consumer.snapshot()
		return live(known) && known.Suspects == 0 && len(known.Instances) == all
	})
	return time.Since(began), err
}
