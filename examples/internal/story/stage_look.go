// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fairway-rpc/fairway/examples/internal/load"
	"github.com/fairway-rpc/fairway/examples/internal/share"
)

// keysWithin bounds one look into etcd.
const keysWithin = 2 * time.Second

// turn begins a new phase of the present step: calls that begin from now on are
// counted in it.
func (s *stage) turn() *load.Phase {
	phase := s.phases.Next()
	s.turns = append(s.turns, phase)
	return phase
}

// endStep begins the next step's first phase and returns what the phases of this
// one have counted.
func (s *stage) endStep() []load.Tally {
	turns := s.turns
	s.turns = []*load.Phase{s.phases.Next()}
	tallies := make([]load.Tally, len(turns))
	for i, phase := range turns {
		tallies[i] = phase.Whole()
	}
	return tallies
}

// inFlight is the number of the step's calls that are with an instance.
func (s *stage) inFlight(address string) (n int64) {
	for _, phase := range s.turns {
		n += phase.Read().Instances[address].InFlight
	}
	return n
}

// alive is the number of providers that run.
func (s *stage) alive() (n int) {
	for _, p := range s.providers {
		if !p.killed {
			n++
		}
	}
	return n
}

// follows waits until the calls of a phase are spread as the weights want.
func (s *stage) follows(ctx context.Context, phase *load.Phase) (shares []Share, err error) {
	numbers := make(map[string]int)
	for _, p := range s.providers {
		numbers[p.address] = p.number
	}
	err = await(ctx, patience, "the calls follow the weights", func() bool {
		tally := phase.Read()
		shares = sharesOf(share.Of(s.consumer.snapshot().Instances, tally), numbers)
		return tally.Calls >= telling && asWanted(shares)
	})
	return shares, err
}

// registered waits until etcd has the keys of all providers that run, each under
// a lease, and no others.
func (s *stage) registered(ctx context.Context) error {
	return await(ctx, patience, "every provider is registered", func() bool {
		leases, err := s.leases(ctx)
		for _, p := range s.providers {
			if (leases[p.address] == 0) != p.killed {
				return false
			}
		}
		return err == nil && len(leases) == s.alive()
	})
}

// leases are those of the service's keys in etcd, by address.
func (s *stage) leases(ctx context.Context) (map[string]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, keysWithin)
	defer cancel()
	prefix := "fairway/" + service + "/"
	resp, err := s.admin.Get(ctx, prefix, clientv3.WithPrefix())
	if err != nil {
		return nil, fmt.Errorf("look into etcd: %w", err)
	}
	found := make(map[string]int64, len(resp.Kvs))
	for _, kv := range resp.Kvs {
		found[string(kv.Key[len(prefix):])] = kv.Lease
	}
	return found, nil
}
