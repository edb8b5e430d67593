// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairway-rpc/fairway/examples/internal/share"
)

func TestSharesAreByNumber(t *testing.T) {
	rows := []share.Row{
		{Address: "127.0.0.1:1", Weight: 3, Calls: 3, Actual: 0.375, Expected: 0.375, Listed: true},
		{Address: "127.0.0.1:2", Weight: 5, Calls: 5, Actual: 0.625, Expected: 0.625, Listed: true},
	}
	shares := sharesOf(rows, map[string]int{"127.0.0.1:2": 1, "127.0.0.1:1": 2})
	want := []Share{
		{Provider: 1, Address: "127.0.0.1:2", Weight: 5, Calls: 5, Share: 0.625, Expected: 0.625},
		{Provider: 2, Address: "127.0.0.1:1", Weight: 3, Calls: 3, Share: 0.375, Expected: 0.375},
	}
	if diff := cmp.Diff(want, shares); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got, want := describe(shares), "provider 1 62.5 % (weight 5), 2 37.5 % (3)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAsWanted(t *testing.T) {
	for name, tt := range map[string]struct {
		shares []Share
		want   bool
	}{
		"nobody":         {nil, false},
		"exact":          {[]Share{{Expected: 0.5, Share: 0.5}, {Expected: 0.5, Share: 0.5}}, true},
		"a call or two":  {[]Share{{Expected: 0.5, Share: 0.51}, {Expected: 0.5, Share: 0.49}}, true},
		"not as wanted":  {[]Share{{Expected: 0.5, Share: 0.53}, {Expected: 0.5, Share: 0.47}}, false},
		"not wanted any": {[]Share{{Expected: 1, Share: 0.97}, {Expected: 0, Share: 0.03}}, false},
	} {
		if got := asWanted(tt.shares); got != tt.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}
