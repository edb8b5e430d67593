// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"net"
	"strconv"
	"testing"
)

func TestPortsAreFreeAndDifferent(t *testing.T) {
	seen := make(map[string]bool)
	for range 50 {
		addr, err := ports.address()
		if err != nil {
			t.Fatal(err)
		}
		_, text, err := net.SplitHostPort(addr)
		if err != nil {
			t.Fatal(err)
		}
		port, err := strconv.Atoi(text)
		if err != nil || port < firstPort || port >= firstPort+portCount || seen[addr] {
			t.Errorf("address %s: outside the range, or given twice: %v", addr, err)
		}
		seen[addr] = true
	}
}

func TestTakenPortIsPassedOver(t *testing.T) {
	first, err := newPortSource(1).address()
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", first)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	if second, err := newPortSource(1).address(); err != nil || second == first {
		t.Errorf("address = %s, %v; that one is taken", second, err)
	}
}

func TestEveryProcessIDStartsInRange(t *testing.T) {
	for _, pid := range []int{1, 14999, 15000, 1 << 22} {
		addr, err := newPortSource(pid).address()
		if err != nil {
			t.Errorf("process %d: %s, %v", pid, addr, err)
		}
	}
}
