// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"errors"
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
	first, err := newPortSource(t.TempDir(), 1).address()
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", first)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	if second, err := newPortSource(t.TempDir(), 1).address(); err != nil || second == first {
		t.Errorf("address = %s, %v; that one is taken", second, err)
	}
}

// TestProcessesShareNoPort: flock tells two sources in one process apart as it
// does two processes.
func TestProcessesShareNoPort(t *testing.T) {
	dir := t.TempDir()
	seen := make(map[string]bool)
	for range 4 {
		p := newPortSource(dir, 7)
		for range 2 * blockSize {
			addr, err := p.address()
			if err != nil || seen[addr] {
				t.Fatalf("address %s is given twice, or %v", addr, err)
			}
			seen[addr] = true
		}
		t.Cleanup(func() {
			for _, l := range p.held {
				_ = l.Unlock()
			}
		})
	}
}

func TestNoBlockLeft(t *testing.T) {
	dir := t.TempDir()
	all := newPortSource(dir, 0)
	for range blockCount {
		if err := all.reserve(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := newPortSource(dir, 0).address(); !errors.Is(err, errNoPort) {
		t.Errorf("got %v, want errNoPort", err)
	}
	for _, l := range all.held {
		_ = l.Unlock()
	}
}

func TestEveryProcessIDStartsInRange(t *testing.T) {
	for _, pid := range []int{1, blockCount - 1, blockCount, 1 << 22} {
		addr, err := newPortSource(t.TempDir(), pid).address()
		if err != nil {
			t.Errorf("process %d: %s, %v", pid, addr, err)
		}
	}
}
