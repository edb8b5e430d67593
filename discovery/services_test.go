// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"slices"
	"testing"

	"github.com/fairway-rpc/fairway/internal/etcdtest"
)

// TestServicesAreThoseOfThePrefix: a registry whose prefix begins with ours has
// none of ours, and keys of other kinds are none.
func TestServicesAreThoseOfThePrefix(t *testing.T) {
	t.Parallel()
	cli := etcdtest.Start(t).Client(t)
	for _, key := range []string{
		"fairway/a/10.0.0.1:80", "fairway/a.b/[::1]:80", "fairway/sock//run/echo.sock", "fairway/esc/%2Frun%2Fecho.sock",
		"fairway/nested/x/10.0.0.1:80", "fairway/nested/y/10.0.0.1:80", "fairway/both/x/10.0.0.1:80", "fairway/both/zz:80",
		"fairway/_rules/a/*", "fairway/lonely", "fairways/a/10.0.0.1:80",
	} {
		put(t, cli, key, "{}")
	}
	names, err := testResolver(t, cli).Services(t.Context())
	if want := []string{"a", "a.b", "both", "esc", "sock"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("services %v, %v; want %v", names, err, want)
	}
}
