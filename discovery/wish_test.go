// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWishesOverTheRecord(t *testing.T) {
	tags := func(m map[string]string) *map[string]string { return &m }
	for _, tt := range []struct {
		name    string
		wish    wish
		drained bool
		want    record
	}{
		{name: "none", want: record{Weight: new(int64(10)), Tags: map[string]string{"zone": "a"}, State: StateServing}},
		{
			name: "a weight of zero", wish: wish{weight: new(int64(0))},
			want: record{Weight: new(int64(0)), Tags: map[string]string{"zone": "a"}, State: StateServing},
		},
		{
			name: "a source", wish: wish{sourced: new(int64(7))},
			want: record{Weight: new(int64(7)), Tags: map[string]string{"zone": "a"}, State: StateServing},
		},
		{
			name: "by hand before a source", wish: wish{weight: new(int64(3)), sourced: new(int64(7))},
			want: record{Weight: new(int64(3)), Tags: map[string]string{"zone": "a"}, State: StateServing},
		},
		{
			name: "other tags", wish: wish{tags: tags(map[string]string{"zone": "b"})},
			want: record{Weight: new(int64(10)), Tags: map[string]string{"zone": "b"}, State: StateServing},
		},
		{name: "no tags", wish: wish{tags: tags(nil)}, want: record{Weight: new(int64(10)), State: StateServing}},
		{name: "drained", drained: true, want: record{Weight: new(int64(10)), Tags: map[string]string{"zone": "a"}, State: StateDraining}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			base := &record{Weight: new(int64(10)), Tags: map[string]string{"zone": "a"}, State: StateServing, Instance: "me", Address: "a:1"}
			before := *base
			tt.want.Instance, tt.want.Address = "me", "a:1"
			if diff := cmp.Diff(&tt.want, tt.wish.over(base, tt.drained)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(&before, base); diff != "" {
				t.Errorf("what Register was given has changed: %s", diff)
			}
		})
	}
}
