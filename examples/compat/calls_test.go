// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"net"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// TestConsumersCallProvidersOfBothLibraries: each consumer calls every
// provider, whichever library either has.
func TestConsumersCallProvidersOfBothLibraries(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	var addresses []string
	for _, l := range libraries {
		for range 2 {
			_, address := f.provider(t, member{Library: l})
			addresses = append(addresses, address)
		}
	}
	f.registered(t, len(addresses))
	for _, l := range libraries {
		t.Run(string(l), func(t *testing.T) {
			c := f.consumer(t, l)
			for _, address := range addresses {
				waitFor(t, "provider "+address+" is called", func() bool { return c.tally(t).Answers[address] > 20 })
			}
			c.stop(t)
			if got := c.tally(t); got.Failed > 0 {
				t.Errorf("%d of %d calls failed, the last with %s", got.Failed, got.Calls, got.Error)
			}
		})
	}
}

// TestOrderlyStopFailsNoCall stops one of two providers under calls of a
// consumer with the other library.
func TestOrderlyStopFailsNoCall(t *testing.T) {
	for _, l := range libraries {
		t.Run(string(l)+" provider", func(t *testing.T) {
			t.Parallel()
			got := stopOneOfTwo(t, l)
			t.Logf("%d calls, %d failed, %d attempts got no connection", got.Calls, got.Failed, got.Unconnected)
			if got.Failed > 0 {
				t.Errorf("%d of %d calls failed, the last with %s", got.Failed, got.Calls, got.Error)
			}
			// Fairway's providers close their listeners after old consumers have asked
			// again. registry-etcd's close them at once, and a consumer's attempt under
			// way goes elsewhere.
			if l == fairway && got.Unconnected > 0 {
				t.Errorf("%d attempts met a closed listener", got.Unconnected)
			}
		})
	}
}

func stopOneOfTwo(t *testing.T, l Library) tally {
	t.Helper()
	f := newFleet(t)
	leaving, from := f.provider(t, member{Library: l})
	_, staying := f.provider(t, member{Library: l})
	f.registered(t, 2)
	c := f.consumer(t, l.other())
	waitFor(t, "both are called", func() bool {
		now := c.tally(t)
		return now.Answers[from] > 20 && now.Answers[staying] > 20
	})
	leaving.stop(t)
	before := c.tally(t).Answers[staying]
	waitFor(t, "calls go on", func() bool { return c.tally(t).Answers[staying] > before+200 })
	c.stop(t)
	return c.tally(t)
}

// TestLastOldProviderIsForgotten: an old provider goes without a word, but its
// address refuses connections, and so it is not held on to.
func TestLastOldProviderIsForgotten(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	last, address := f.provider(t, member{Library: registryEtcd})
	f.registered(t, 1)
	res := f.resolver(t)
	instances := func() int {
		result, err := res.Resolve(t.Context(), service)
		if err != nil {
			t.Fatal(err)
		}
		return len(result.Instances)
	}
	waitFor(t, "the provider is known", func() bool { return instances() == 1 })
	last.stop(t)
	if keys := f.keys(t); len(keys) > 0 {
		t.Fatalf("the provider has left %v", keys)
	}
	if conn, err := net.Dial("tcp", address); err == nil {
		_ = conn.Close()
		t.Fatal("the provider still accepts connections")
	}
	waitWithin(t, 10*time.Second, "the provider is forgotten", func() bool { return instances() == 0 })
}

// TestAddressChangesHands moves a provider to Fairway and back at one address,
// the hard way: each process is killed, and its key outlives it.
func TestAddressChangesHands(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	first, address := f.provider(t, member{Library: registryEtcd})
	f.registered(t, 1)
	before := f.keys(t)[address].Lease
	first.kill()
	for _, l := range []Library{fairway, registryEtcd} {
		next, _ := f.provider(t, member{Library: l, Listen: address})
		waitFor(t, "the key is under the lease of a "+string(l)+" provider", func() bool {
			now := f.keys(t)[address].Lease
			return now != clientv3.NoLease && now != before
		})
		before = f.keys(t)[address].Lease
		c := f.consumer(t, l.other())
		waitFor(t, "the provider is called", func() bool { return c.tally(t).Answers[address] > 20 })
		c.stop(t)
		if got := c.tally(t); got.Failed > 0 {
			t.Errorf("%d of %d calls failed, the last with %s", got.Failed, got.Calls, got.Error)
		}
		next.kill()
	}
}
