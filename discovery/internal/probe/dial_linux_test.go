// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// TestListenerWithAFullBacklogIsDead has a server that hangs: the kernel drops
// what it does not accept, so that probes time out.
func TestListenerWithAFullBacklogIsDead(t *testing.T) {
	address := hungListener(t)
	if !filled(t, address) {
		t.Skip("the backlog does not fill up here")
	}
	died, answered := watched(t, "tcp", address)
	mustDie(t, died)
	if answered.Load() != 0 {
		t.Error("a probe was answered: the backlog is not full")
	}
}

// filled connects until that times out.
func filled(t *testing.T, address string) bool {
	t.Helper()
	for range 10 {
		conn, err := net.DialTimeout("tcp", address, 200*time.Millisecond)
		if err != nil {
			return os.IsTimeout(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
	return false
}

// hungListener listens with the shortest backlog and accepts nothing.
func hungListener(t *testing.T) (address string) {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	bound := name.(*syscall.SockaddrInet4)
	return (&net.TCPAddr{IP: bound.Addr[:], Port: bound.Port}).String()
}
