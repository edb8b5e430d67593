// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairway-rpc/fairway/examples/internal/load"
	"github.com/fairway-rpc/fairway/examples/internal/report"
	"github.com/fairway-rpc/fairway/examples/internal/share"
)

// TestShape holds the form that other programs read.
func TestShape(t *testing.T) {
	rows := []share.Row{{Address: "127.0.0.1:1", Weight: 5, Expected: 1, Actual: 0.75, Calls: 3}}
	for _, tt := range []struct {
		name string
		r    report.Report
		want string
	}{
		{
			"one instance", report.New("smooth-wrr", rows, load.Tally{Calls: 4, Failed: 1}, 2),
			`{"policy":"smooth-wrr","calls":4,"failed":2,"instances":[{"address":"127.0.0.1:1","weight":5,"expected_share":1,"share":0.75,"calls":3}]}` + "\n",
		},
		{
			"none", report.New("least-active", nil, load.Tally{}, 0),
			`{"policy":"least-active","calls":0,"failed":0,"instances":[]}` + "\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			if err := tt.r.Write(&b); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, b.String()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
