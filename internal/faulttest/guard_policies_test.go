// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package faulttest

import (
	"testing"
	"time"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/internal/etcdtest"
	"github.com/fairway-rpc/fairway/loadbalance"
)

// each is a consumer with calls going on for every policy.
type each struct {
	resolvers []*discovery.Resolver
	loads     map[string]*load
}

// forEachPolicy starts them when there are n providers.
func forEachPolicy(t *testing.T, endpoint string, n int) *each {
	t.Helper()
	e := &each{loads: make(map[string]*load)}
	for _, policy := range loadbalance.Policies() {
		res := resolver(t, endpoint)
		sees(t, res, n, 0)
		e.resolvers = append(e.resolvers, res)
		e.loads[policy] = startLoad(t, consumer(t, res, policy))
	}
	for _, l := range e.loads {
		l.goesOn(50)
	}
	return e
}

func TestWipeUnderEveryPolicy(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.Start(t)
	all := providers(t, 3, etcd.Endpoint())
	e := forEachPolicy(t, etcd.Endpoint(), 3)
	etcd.Wipe()
	etcd.Restart()
	for _, res := range e.resolvers {
		waitFor(t, "the consumer follows the new registry", func() bool { return relists(t, res) > 0 })
		sees(t, res, 3, 0)
	}
	for policy, l := range e.loads {
		t.Run(policy, func(t *testing.T) {
			l.t = t
			l.goesOn(50)
			l.noneFailed()
			for _, p := range all {
				if l.answeredBy(p.Address) == 0 {
					t.Errorf("%s has never been called", p.Address)
				}
			}
		})
	}
}

func TestKillUnderEveryPolicy(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.Start(t)
	const ttl = 2 * time.Second
	_ = providers(t, 2, etcd.Endpoint())
	dead := startProcess(t, etcd.Endpoint(), "127.0.0.1:0", ttl)
	e := forEachPolicy(t, etcd.Endpoint(), 3)
	for _, l := range e.loads {
		waitFor(t, "it is called", func() bool { return l.answeredBy(dead.address) > 0 })
	}
	if err := dead.Kill(); err != nil {
		t.Fatal(err)
	}
	for _, res := range e.resolvers {
		sees(t, res, 2, 0)
	}
	for policy, l := range e.loads {
		t.Run(policy, func(t *testing.T) {
			l.t = t
			l.goesOn(50)
			l.failedAtMost(inFlight)
		})
	}
}
