// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package faulttest

import (
	"testing"
	"time"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/internal/etcdtest"
)

// TestProviderNeverGivesUp: etcd is down for longer than any number of attempts
// that a programmer would think of. An attempt to register goes on for up to
// three seconds, in which the client connects several times.
func TestProviderNeverGivesUp(t *testing.T) {
	t.Parallel()
	const (
		ttl           = 2 * time.Second
		outage        = time.Minute
		dials         = 30
		registrations = 10
	)
	etcd := etcdtest.Start(t)
	proxy := etcdtest.NewProxy(t, etcd.Endpoint()) // counts who comes to the dead port
	reg := registry(t, proxy.Addr(), discovery.WithTTL(ttl))
	_ = provider(t, reg)
	status := func() (s discovery.RegistrationStatus) {
		for _, s = range reg.Status().Registrations { // one, once the server has started
		}
		return s
	}
	waitFor(t, "the provider is registered", func() bool { return status().State == discovery.Registered })
	etcd.Kill()
	began, before := time.Now(), proxy.Accepted()
	failed, last := 0, time.Time{}
	waitWithin(t, 2*outage, "the outage lasts", func() bool {
		if at := status().LastErrorAt; !at.Equal(last) {
			failed, last = failed+1, at
		}
		return time.Since(began) >= outage && failed >= registrations && proxy.Accepted()-before >= dials
	})
	t.Logf("%d failed attempts to register, %d to connect, in %v", failed, proxy.Accepted()-before, time.Since(began))
	if s := status(); s.State != discovery.Retrying || s.TTLLeft != 0 {
		t.Errorf("status %+v", s)
	}
	etcd.Restart()
	cli := etcd.Client(t)
	took := waitWithin(t, 4*time.Second, "it is registered again", func() bool { return len(keys(t, cli)) == 1 })
	t.Logf("registered %v after etcd has answered", took)
}
