// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package maglev

import (
	"testing"

	"github.com/fairway-rpc/fairway/loadbalance/internal/keyhash"
)

func TestLookupAllocatesNothing(t *testing.T) {
	items := mixed(100)
	items[3].Serving = false
	r := table(items...)
	skip := func(v string) bool { return v == items[5].Value }
	if allocs := testing.AllocsPerRun(1000, func() {
		h := keyhash.String("some key")
		_ = r.Lookup(h)
		_, _ = r.LookupSkip(h, skip)
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
