// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package faulttest

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/internal/etcdtest"
	"github.com/fairway-rpc/fairway/loadbalance"
)

// TestWeightSourceRamps from 10 to 40, a little each second: what is written is
// little, and the calls follow what is written.
func TestWeightSourceRamps(t *testing.T) {
	t.Parallel()
	const (
		every = 30 * time.Second // between two writes
		from  = 10
		to    = 4 * from
	)
	etcd := etcdtest.Start(t)
	var ramp atomic.Int64
	ramp.Store(from)
	driven := provider(t, registry(t, etcd.Endpoint(), discovery.WithWeightSource(func() int { return int(ramp.Load()) })))
	fixed := provider(t, registry(t, etcd.Endpoint()))
	res := resolver(t, etcd.Endpoint())
	sees(t, res, 2, 0)
	load := startLoad(t, consumer(t, res, loadbalance.SmoothWRR))
	cli := etcd.Client(t)
	// share is the driven one's of a few hundred calls, in percent.
	share := func() int64 {
		load.goesOn(20) // those that were picked before
		d, f := load.answeredBy(driven.Address), load.answeredBy(fixed.Address)
		load.goesOn(400)
		d, f = load.answeredBy(driven.Address)-d, load.answeredBy(fixed.Address)-f
		return int64(100 * d / (d + f))
	}
	follows := func() (weight int) {
		t.Helper()
		weight = getKey(t, cli, keyOf(driven)).Weight
		want := int64(100 * weight / (weight + from))
		if got := share(); got < want-3 || got > want+3 {
			t.Errorf("%d %% of the calls at weight %d, want %d %%", got, weight, want)
		}
		return weight
	}
	if w := follows(); w != from {
		t.Errorf("weight %d before the ramp", w)
	}
	began := time.Now()
	step := time.NewTicker(time.Second)
	defer step.Stop()
	for ramp.Load() < to {
		<-step.C
		ramp.Add(2)
	}
	if w := follows(); w < from*5/4 || w >= to {
		t.Errorf("weight %d after the ramp, want one from its beginning", w)
	}
	// The interval, a fifth more so that fleets spread, and a sample.
	waitWithin(t, time.Until(began.Add(every*6/5+5*time.Second)), "the end of the ramp is published", func() bool {
		return getKey(t, cli, keyOf(driven)).Weight == to
	})
	follows()
	if writes, most := getKey(t, cli, keyOf(driven)).version-1, int64(time.Since(began)/every)+1; writes > most {
		t.Errorf("%d writes in %v, want at most %d", writes, time.Since(began), most)
	}
	load.noneFailed()
}
