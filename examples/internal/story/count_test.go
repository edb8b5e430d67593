// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairway-rpc/fairway/examples/internal/load"
)

// tally is a phase of which calls at two instances failed.
func tally(calls, failedAtA, failedAtB uint64) load.Tally {
	return load.Tally{
		Calls: calls, Failed: failedAtA + failedAtB,
		Instances: map[string]load.Instance{"a": {Calls: calls / 2, Failed: failedAtA}, "b": {Calls: calls / 2, Failed: failedAtB}},
	}
}

func TestCountOf(t *testing.T) {
	for name, tt := range map[string]struct {
		phases []load.Tally
		killed loss
		want   count
	}{
		"nothing":                   {want: count{}},
		"no kill":                   {phases: []load.Tally{tally(10, 1, 0), tally(20, 0, 2)}, want: count{Calls: 30, Failed: 3}},
		"in flight at the kill":     {phases: []load.Tally{tally(10, 1, 0), tally(20, 2, 0)}, killed: loss{"a", 2}, want: count{Calls: 30, InFlight: 3}},
		"later calls are no excuse": {phases: []load.Tally{tally(10, 1, 0), tally(20, 2, 0)}, killed: loss{"a", 1}, want: count{Calls: 30, Failed: 2, InFlight: 1}},
		"nor are other instances":   {phases: []load.Tally{tally(10, 1, 4)}, killed: loss{"a", 1}, want: count{Calls: 10, Failed: 4, InFlight: 1}},
		"nor more than callers":     {phases: []load.Tally{tally(100, callers+3, 0)}, killed: loss{"a", 1}, want: count{Calls: 100, Failed: 3, InFlight: callers}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, countOf(tt.phases, tt.killed)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
