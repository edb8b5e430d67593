// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package hashring

import "testing"

func TestLookupAllocatesNothing(t *testing.T) {
	items := mixed(100)
	items[3].Serving = false
	r := ring(items...)
	skip := func(v string) bool { return v == items[5].Value }
	if allocs := testing.AllocsPerRun(1000, func() {
		h := Hash("some key")
		_ = r.Lookup(h)
		_, _ = r.LookupSkip(h, skip)
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
