// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Services of the compose file; every other one is a provider.
const (
	etcdService     = "etcd"
	consumerService = "consumer"
)

const (
	// patience bounds one wait; nothing takes nearly as long.
	patience = 90 * time.Second
	// keptFor is longer than the TTL of a provider's lease: a key that is
	// still there after it is one that its provider keeps alive.
	keptFor = 12 * time.Second
	// enoughCalls makes four standard deviations a few points at most.
	enoughCalls = 3000
)

// scenario is one run over the project.
type scenario struct {
	*engine
	say       *narrator
	providers []provider
}

func newScenario(e *engine, say *narrator) *scenario {
	return &scenario{engine: e, say: say}
}

// play runs the steps in order.
func (s *scenario) play(ctx context.Context) error {
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"compose up", s.start},
		{"the consumer's calls spread by weight", s.spreads},
		{"stopping etcd fails no call", s.losesEtcd},
		{"a consumer started without etcd calls from its disk copy", s.restartsBlind},
		{"starting etcd brings every key back", s.regainsEtcd},
		{"the consumer's calls still spread by weight", s.spreads},
		{"stopping a provider fails no call", s.losesProvider},
		{"every program ends in order, with no failed call", s.ends},
	} {
		s.say.step("%s", step.name)
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}

// start brings the project up, which builds the images first.
func (s *scenario) start(ctx context.Context) error {
	if err := s.up(ctx); err != nil {
		return err
	}
	services, err := s.do(ctx, "config", "--services")
	if err != nil {
		return err
	}
	for service := range strings.FieldsSeq(services) {
		if service == etcdService || service == consumerService {
			continue
		}
		p, err := s.provider(ctx, service)
		if err != nil {
			return err
		}
		s.providers = append(s.providers, p)
	}
	return nil
}

// spreads collects calls until there are enough and compares them with the weights.
func (s *scenario) spreads(ctx context.Context) error {
	if err := s.seesAll(ctx); err != nil {
		return err
	}
	// A part of these intervals may be older than the last provider.
	old, err := s.reports(ctx)
	if err != nil {
		return err
	}
	var calls map[string]int
	err = waitFor(ctx, patience, "enough calls", func(ctx context.Context) error {
		reports, err := s.reports(ctx)
		if err != nil {
			return err
		}
		var n int
		calls, n = tally(reports[min(len(old), len(reports)):])
		if n < enoughCalls {
			return unmet(fmt.Sprintf("%d of %d calls", n, enoughCalls))
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.say.step("  %s", describe(calls))
	return checkShares(calls, weightsOf(s.providers))
}

// losesEtcd stops the container and waits until the consumer knows and has
// gone on calling for two more intervals.
func (s *scenario) losesEtcd(ctx context.Context) error {
	if _, err := s.do(ctx, "stop", etcdService); err != nil {
		return err
	}
	err := s.consumer(ctx, "a stale consumer", func(r report) bool { return r.state == "stale" })
	if err != nil {
		return err
	}
	return s.callsOn(ctx, 2)
}

// restartsBlind makes a new consumer container while etcd is down, so that
// nothing but the volume can tell it where the providers are.
func (s *scenario) restartsBlind(ctx context.Context) error {
	if err := s.stopConsumer(ctx); err != nil {
		return err
	}
	if err := s.up(ctx, "--no-deps", "--force-recreate", consumerService); err != nil {
		return err
	}
	err := s.consumer(ctx, "a consumer that calls from disk", func(r report) bool {
		return r.source == "disk" && r.calls > 0
	})
	if err != nil {
		return err
	}
	if err := s.seesAll(ctx); err != nil {
		return err
	}
	return s.callsOn(ctx, 2)
}

// regainsEtcd starts etcd and waits for the keys and a live consumer; then the
// keys have to outlive their leases' TTL.
func (s *scenario) regainsEtcd(ctx context.Context) error {
	if _, err := s.do(ctx, "start", etcdService); err != nil {
		return err
	}
	err := waitFor(ctx, patience, "every provider's key", func(ctx context.Context) error {
		return s.registered(ctx, s.providers)
	})
	if err != nil {
		return err
	}
	s.say.step("  every key is there")
	err = s.consumer(ctx, "a live consumer", func(r report) bool {
		return r.state == "live" && r.source == "etcd"
	})
	if err != nil {
		return err
	}
	s.say.step("  the consumer is live; the keys have to stay for %s", keptFor)
	return s.staysRegistered(ctx)
}

// staysRegistered looks at the keys until they must have been kept alive.
func (s *scenario) staysRegistered(ctx context.Context) error {
	end := time.Now().Add(keptFor)
	return waitFor(ctx, patience, "keys that stay", func(ctx context.Context) error {
		if err := s.registered(ctx, s.providers); err != nil {
			return fmt.Errorf("a key went again: %w", err)
		}
		if time.Now().Before(end) {
			return unmet("not yet as long as the TTL")
		}
		return nil
	})
}

// losesProvider stops one in order: its key goes, and the consumer picks the others.
func (s *scenario) losesProvider(ctx context.Context) error {
	gone := s.providers[len(s.providers)-1]
	rest := s.providers[:len(s.providers)-1]
	if _, err := s.do(ctx, "stop", gone.service); err != nil {
		return err
	}
	if err := s.ended(ctx, gone.service); err != nil {
		return err
	}
	if err := s.registered(ctx, rest); err != nil {
		return err
	}
	err := s.consumer(ctx, "a consumer without "+gone.service, func(r report) bool {
		return !slices.ContainsFunc(r.instances, func(i instance) bool { return i.address == gone.address })
	})
	if err != nil {
		return err
	}
	return s.callsOn(ctx, 1)
}

// ends stops the consumer, whose status tells of failed calls, then the rest.
func (s *scenario) ends(ctx context.Context) error {
	if err := s.stopConsumer(ctx); err != nil {
		return err
	}
	if _, err := s.do(ctx, "stop"); err != nil {
		return err
	}
	for _, p := range s.providers {
		if err := s.ended(ctx, p.service); err != nil {
			return err
		}
	}
	return nil
}
