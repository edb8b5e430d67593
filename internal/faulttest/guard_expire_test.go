// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package faulttest

import (
	"testing"
	"time"

	"github.com/fairway-rpc/fairway/discovery"
)

// TestProvidersExpireOneByOne: the registry loses one provider after another,
// all of which are well. The guard's window counts them together.
func TestProvidersExpireOneByOne(t *testing.T) {
	t.Parallel()
	s := newStranded(t, 5)
	s.expireAll()
	sees(t, s.resolver, 5, 5)
	before := make(map[string]int)
	for _, p := range s.providers {
		before[p.Address] = s.load.answeredBy(p.Address)
	}
	s.load.lasts(2 * time.Second)
	for _, p := range s.providers {
		if s.load.answeredBy(p.Address) == before[p.Address] {
			t.Errorf("%s gets no calls although it is held", p.Address)
		}
	}
	s.load.noneFailed()
}

// TestWithoutTheGuardProvidersThatExpireAreLost is the control of
// TestProvidersExpireOneByOne.
func TestWithoutTheGuardProvidersThatExpireAreLost(t *testing.T) {
	t.Parallel()
	s := newStranded(t, 5, discovery.WithGuard(discovery.Guard{Off: true}))
	s.expireAll()
	sees(t, s.resolver, 0, 0)
	s.load.someFail()
}

// expireAll takes the providers out of etcd within several seconds.
func (s *stranded) expireAll() {
	s.t.Helper()
	s.load.goesOn(50)
	s.strand()
	for _, p := range s.providers {
		s.expire(p.Address)
		s.load.lasts(time.Second)
	}
}
