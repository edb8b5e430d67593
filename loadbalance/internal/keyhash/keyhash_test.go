// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package keyhash

import "testing"

// TestHashesNeverChange: in no release and on no machine, or caches behind the
// hashing policies are lost in an upgrade.
func TestHashesNeverChange(t *testing.T) {
	for key, want := range map[string]uint64{
		"":       0x6a9fc0cf8e5dcf7e,
		"a":      0x93cc77e6d960b302,
		"user-1": 0xff2b5c3530447fef,
		"the quick brown fox jumps over the lazy dog": 0x570cc69d7a1aca7e,
	} {
		if got := String(key); got != want {
			t.Errorf("the hash of %q is %#x, want %#x", key, got, want)
		}
		if got := Bytes([]byte(key)); got != want {
			t.Errorf("the hash of the bytes of %q is %#x, want %#x", key, got, want)
		}
	}
	// The first numbers of SplitMix64 with the seed 0; the seed goes on by one step.
	if got := Next(0); got != 0xe220a8397b1dcdaf {
		t.Errorf("after 0 comes %#x", got)
	}
	if got := Next(step); got != 0x6e789e6aa1b965f4 {
		t.Errorf("after one step comes %#x", got)
	}
}
