// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"maps"
	"slices"
	"testing"
)

const leaseTTL = "KITEX_ETCD_REGISTRY_LEASE_TTL"

// TestLeaseTTL: the variable means the same to both, seconds.
func TestLeaseTTL(t *testing.T) {
	defaults := map[Library]int64{fairway: 10, registryEtcd: 60}
	for _, l := range libraries {
		t.Run(string(l), func(t *testing.T) {
			t.Parallel()
			f := newFleet(t)
			_, unset := f.provider(t, member{Library: l}, leaseTTL+"=")
			_, set := f.provider(t, member{Library: l}, leaseTTL+"=33")
			f.registered(t, 2)
			want := map[string]int64{unset: defaults[l], set: 33}
			for _, address := range slices.Sorted(maps.Keys(want)) {
				lease, err := f.etcd.TimeToLive(t.Context(), f.keys(t)[address].Lease)
				if err != nil {
					t.Fatal(err)
				}
				if lease.GrantedTTL != want[address] {
					t.Errorf("the lease has %d s, want %d", lease.GrantedTTL, want[address])
				}
			}
		})
	}
}
