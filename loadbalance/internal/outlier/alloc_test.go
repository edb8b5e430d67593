// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package outlier

import "testing"

func TestNothingIsAllocated(t *testing.T) {
	d, hosts := fleetOf(Defaults(), 100)
	now := int64(0)
	if n := testing.AllocsPerRun(100, func() {
		hosts[0].Call(now, 1, false)
		hosts[1].Call(now, 1, now%2 == 0)
		_ = hosts[0].Ejected()
	}); n != 0 {
		t.Errorf("a call: %v allocations", n)
	}
	if n := testing.AllocsPerRun(100, func() {
		now += second
		for _, r := range hosts {
			r.Call(now, 1, false)
		}
		d.Sweep(now, hosts)
	}); n != 0 {
		t.Errorf("a sweep that changes nothing: %v allocations", n)
	}
}
