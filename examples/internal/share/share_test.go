// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package share_test

import (
	"testing"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	"github.com/google/go-cmp/cmp"

	"github.com/fairway-rpc/fairway/examples/internal/load"
	"github.com/fairway-rpc/fairway/examples/internal/share"
)

func TestOf(t *testing.T) {
	// Kitex's own instances turn a weight of 0 into 10.
	instances := []kdiscovery.Instance{
		kdiscovery.NewInstance("tcp", "127.0.0.1:2", 3, nil),
		kdiscovery.NewInstance("tcp", "127.0.0.1:1", 5, nil),
	}
	tally := load.Tally{
		Calls: 11, Failed: 1,
		Nowhere: load.Instance{Calls: 1, Failed: 1},
		Instances: map[string]load.Instance{
			"127.0.0.1:1": {Calls: 6, InFlight: 2},
			"127.0.0.1:2": {Calls: 3},
			"127.0.0.1:3": {Calls: 1}, // left the list
			"127.0.0.1:4": {},         // left it before
		},
	}
	want := []share.Row{
		{Address: "127.0.0.1:1", Weight: 5, Calls: 6, InFlight: 2, Actual: 0.6, Expected: 0.625, Listed: true},
		{Address: "127.0.0.1:2", Weight: 3, Calls: 3, Actual: 0.3, Expected: 0.375, Listed: true},
		{Address: "127.0.0.1:3", Calls: 1, Actual: 0.1},
	}
	if diff := cmp.Diff(want, share.Of(instances, tally)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestOfNothing(t *testing.T) {
	if rows := share.Of([]kdiscovery.Instance(nil), load.Tally{}); len(rows) != 0 {
		t.Errorf("got %v for no instance", rows)
	}
	idle := []kdiscovery.Instance{kdiscovery.NewInstance("tcp", "127.0.0.1:1", 5, nil)}
	want := []share.Row{{Address: "127.0.0.1:1", Weight: 5, Expected: 1, Listed: true}}
	if diff := cmp.Diff(want, share.Of(idle, load.Tally{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
