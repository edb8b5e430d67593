// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairway-rpc/fairway/discovery"
)

// unheard is how many calls may begin after the kill until the consumer's event
// loop has surely heard of it: one of them may be sent on a connection that the
// kill has cut already.
const unheard = 20

func killProvider(ctx context.Context, s *stage) (Finding, error) {
	p := s.providers[2]
	sight := s.consumer.lookOut(func(snapshot *discovery.Snapshot) bool { return !listed(snapshot, p.address) })
	defer sight.end()
	began := time.Now()
	if err := s.kill(ctx, p); err != nil {
		return Finding{}, err
	}
	after := s.turn()
	if leases, err := s.leases(ctx); err != nil || leases[p.address] == 0 {
		return Finding{}, errors.Join(fmt.Errorf("%w: etcd does not list the killed provider, as after an orderly end", ErrUnexpected), err)
	}
	at, err := sight.await(ctx, "the lease runs out and the consumer forgets the killed provider")
	if err != nil {
		return Finding{}, err
	}
	shares, err := s.follows(ctx, after)
	forgotten := at.Sub(began)
	return Finding{SeenMS: ms(forgotten), Shares: shares, Shows: fmt.Sprintf(
		"It left no word in etcd, which listed it for another %s, until its lease had run out. The consumer did not wait for that: calls that found its port refusing went to the others.",
		brief(forgotten))}, err
}

// kill returns when the calls that were in flight at the provider have ended.
func (s *stage) kill(ctx context.Context, p *provider) error {
	cut := s.turn()
	s.killed = loss{address: p.address, phases: len(s.turns)}
	if err := p.process.Kill(); err != nil {
		return err
	}
	p.killed = true
	return await(ctx, patience, "the calls in flight at the killed provider end", func() bool {
		return cut.Read().Calls >= unheard && s.inFlight(p.address) == 0
	})
}

func addProvider(ctx context.Context, s *stage) (Finding, error) {
	var p *provider
	more := s.alive() + 1
	known, err := s.change(ctx, "the consumer sees the new provider",
		func(snapshot *discovery.Snapshot) bool { return len(snapshot.Instances) == more },
		func() (err error) {
			p, err = s.newProvider(addedWeight)
			return err
		})
	if err != nil {
		return Finding{}, err
	}
	since, after := time.Now(), s.turn()
	err = await(ctx, patience, "the new provider gets a call", func() bool { return after.Read().Instances[p.address].Calls > 0 })
	if err != nil {
		return Finding{}, err
	}
	first := time.Since(since)
	shares, err := s.follows(ctx, after)
	return Finding{SeenMS: ms(known), Shares: shares, Shows: fmt.Sprintf(
		"The consumer knew of it %s after its start, of which Kitex waits a second before it registers; its first call was answered %s later.",
		brief(known), brief(first))}, err
}
