// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package faulttest

import (
	"testing"
	"time"

	"github.com/fairway-rpc/fairway/discovery"
)

// TestOutageOfThreeTimesTheTTL: etcd is down until every lease has expired, and
// comes back.
func TestOutageOfThreeTimesTheTTL(t *testing.T) {
	t.Parallel()
	const ttl = 2 * time.Second
	w := newWorld(t, 3, ttl)
	w.load.goesOn(50)
	w.etcd.Kill()
	w.load.lasts(3 * ttl)
	if got := state(w.resolver); got != discovery.FeedStale {
		t.Errorf("the feed is %s after %v without etcd", got, 3*ttl)
	}
	w.etcd.Restart()
	cli := w.etcd.Client(t)
	waitWithin(t, 4*time.Second, "every key is back", func() bool { return len(keys(t, cli)) == 3 })
	waitFor(t, "the feed is live", func() bool { return state(w.resolver) == discovery.FeedLive })
	sees(t, w.resolver, 3, 0)
	w.load.goesOn(50)
	w.load.noneFailed()
}

// TestWipe: the data are gone, the providers are not.
func TestWipe(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3, 10*time.Second)
	w.load.goesOn(50)
	w.etcd.Wipe()
	w.etcd.Restart()
	cli := w.etcd.Client(t)
	waitWithin(t, 5*time.Second, "every key is back", func() bool { return len(keys(t, cli)) == 3 })
	waitFor(t, "the consumer follows the new registry", func() bool {
		s := w.resolver.Status().Services[0]
		return s.Relists["diverged"] > 0 && s.State == discovery.FeedLive
	})
	sees(t, w.resolver, 3, 0)
	w.load.goesOn(50)
	w.load.noneFailed()
}
