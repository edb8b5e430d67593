// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package hashring

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestMappingNeverChanges: these owners must be the same in every release and
// on every machine, or caches behind a consistent hash are lost in an upgrade.
func TestMappingNeverChanges(t *testing.T) {
	r := ring(item("10.0.0.1:8888", 10), item("10.0.0.2:8888", 10), item("10.0.0.10:8888", 5), item("[::1]:8888", 20), item("/run/echo.sock", 1))
	var got []string
	for i := range 20 {
		got = append(got, r.Lookup(Hash(fmt.Sprintf("user-%d", i))))
	}
	const want = "[::1]:8888 10.0.0.2:8888 10.0.0.1:8888 10.0.0.1:8888 [::1]:8888 " +
		"10.0.0.1:8888 10.0.0.2:8888 10.0.0.2:8888 10.0.0.1:8888 10.0.0.10:8888 " +
		"[::1]:8888 10.0.0.1:8888 [::1]:8888 10.0.0.2:8888 10.0.0.10:8888 " +
		"[::1]:8888 10.0.0.1:8888 10.0.0.1:8888 10.0.0.1:8888 [::1]:8888"
	if all := strings.Join(got, " "); all != want {
		t.Errorf("owners\n%s\nwant\n%s", all, want)
	}
}

func TestHashesNeverChange(t *testing.T) {
	for key, want := range map[string]uint64{
		"":       0x6a9fc0cf8e5dcf7e,
		"a":      0x93cc77e6d960b302,
		"user-1": 0xff2b5c3530447fef,
		"the quick brown fox jumps over the lazy dog": 0x570cc69d7a1aca7e,
	} {
		if got := Hash(key); got != want {
			t.Errorf("the hash of %q is %#x, want %#x", key, got, want)
		}
	}
	var hasher pointHasher
	for address, want := range map[string][]uint64{
		"10.0.0.1:8888": {0xc10e799310697b91, 0x808587bb5f00bbd2, 0x76767d3efaa6fb68},
		"[::1]:8888":    {0x0eef991c97cfea73, 0x31cfdecee4a1f5b1, 0x9cf9d7305c8a393f},
		"":              {0x4327fb0057723e84, 0xf5fcd316bbf2ced6, 0xd0664b012da59301},
	} {
		hasher.reset(address)
		if got := []uint64{hasher.point(0), hasher.point(1), hasher.point(1 << 20)}; !slices.Equal(got, want) {
			t.Errorf("points 0, 1 and 2^20 of %q are at %#x, want %#x", address, got, want)
		}
	}
}
