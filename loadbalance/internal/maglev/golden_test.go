// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package maglev

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/fairway-rpc/fairway/loadbalance/internal/keyhash"
)

// TestMappingNeverChanges: these owners must be the same in every release and
// on every machine, or caches behind the policy are lost in an upgrade.
func TestMappingNeverChanges(t *testing.T) {
	r := table(item("10.0.0.1:8888", 10), item("10.0.0.2:8888", 10), item("10.0.0.10:8888", 5), item("[::1]:8888", 20), item("/run/echo.sock", 1))
	var got []string
	for i := range 20 {
		got = append(got, r.Lookup(keyhash.String(fmt.Sprintf("user-%d", i))))
	}
	const want = "10.0.0.1:8888 [::1]:8888 [::1]:8888 10.0.0.2:8888 10.0.0.2:8888 " +
		"10.0.0.1:8888 [::1]:8888 [::1]:8888 10.0.0.2:8888 [::1]:8888 " +
		"[::1]:8888 [::1]:8888 10.0.0.10:8888 [::1]:8888 [::1]:8888 " +
		"[::1]:8888 10.0.0.10:8888 [::1]:8888 [::1]:8888 10.0.0.1:8888"
	if all := strings.Join(got, " "); all != want {
		t.Errorf("owners\n%s\nwant\n%s", all, want)
	}
}

// TestTablesNeverChange compares the hashes of whole tables, of each size that
// is built in a moment.
func TestTablesNeverChange(t *testing.T) {
	for _, c := range []struct {
		name  string
		items []Item[string]
		slots int
		hash  uint64
	}{
		{"one", fleet("10.0", 1, 10), 131_101, 0xd4ebab7394f94912},
		{"100 equal", fleet("10.0", 100, 10), 131_101, 0x8d7b855e7d6c3baa},
		{"100 mixed", mixed(100), 131_101, 0x112f31db455981c6},
		{"the most of the first size", mixed(1311), 131_101, 0xb02baf09aa4c9b88},
		{"the fewest of the second size", mixed(1312), 1_048_583, 0xd111aa63a2edab04},
	} {
		r := New(c.items, nil)
		var owners []byte
		for _, owner := range r.owners {
			owners = binary.LittleEndian.AppendUint32(owners, owner)
		}
		if got := keyhash.Bytes(owners); r.Len() != c.slots || got != c.hash {
			t.Errorf("%s: %d slots of the hash %#x, want %d of %#x", c.name, r.Len(), got, c.slots, c.hash)
		}
	}
}
