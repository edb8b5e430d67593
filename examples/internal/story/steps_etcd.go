// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/fairway-rpc/fairway/discovery"
)

// refuseWithin is how long the port of a stopped etcd is tried.
const refuseWithin = time.Second

func stopEtcd(ctx context.Context, s *stage) (Finding, error) {
	s.etcd.Stop()
	began, down := time.Now(), s.turn()
	dialer := net.Dialer{Timeout: refuseWithin}
	if conn, err := dialer.DialContext(ctx, "tcp", s.etcd.Endpoint()); err == nil {
		_ = conn.Close()
		return Finding{}, fmt.Errorf("%w: the port of etcd accepts a connection although it has stopped", ErrUnexpected)
	}
	// Twice the time that a lease lives without etcd's clock.
	for _, since := range []time.Duration{ttl / 2, ttl, ttl * 3 / 2, 2 * ttl} {
		if err := await(ctx, since+patience, "time passes", func() bool { return time.Since(began) >= since }); err != nil {
			return Finding{}, err
		}
		known, tally := s.consumer.snapshot(), down.Read()
		s.cfg.Say("%sdown for %s: %s calls, %d failed; the list is %s, %s old",
			indent, brief(since), thousands(tally.Calls), tally.Failed, known.State, brief(age(known)))
	}
	known := s.consumer.snapshot()
	if known.State != discovery.FeedStale {
		return Finding{}, fmt.Errorf("%w: the consumer's copy is %s after %v without etcd", ErrUnexpected, known.State, time.Since(began))
	}
	shares, err := s.follows(ctx, down)
	return Finding{AgeMS: age(known).Milliseconds(), Shares: shares, Shows: fmt.Sprintf(
		"The calls went on, by the last known list of %d providers, which says that it is %s and %s old.",
		len(known.Instances), known.State, brief(age(known)))}, err
}

func startEtcd(ctx context.Context, s *stage) (Finding, error) {
	before := s.consumer.status()
	var served time.Duration
	began := time.Now()
	seen, err := s.change(ctx, "the consumer is live again", live, func() error {
		err := s.etcd.Start(ctx)
		served = time.Since(began)
		return err
	})
	if err != nil {
		return Finding{}, err
	}
	if err := s.registered(ctx); err != nil {
		return Finding{}, err
	}
	shares, err := s.follows(ctx, s.turn())
	r := registryOf(before, s.consumer.status())
	return Finding{SeenMS: ms(seen), Shares: shares, Registry: &r, Shows: fmt.Sprintf(
		"etcd served after %s, and the consumer was live again %s later. All %d providers are registered; etcd's revision was %d and is %d.",
		brief(served), brief(seen-served), s.alive(), r.Before, r.Revision)}, err
}
