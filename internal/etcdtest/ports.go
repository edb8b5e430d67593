// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync/atomic"
)

// Ports come from below the range from which operating systems serve outgoing
// connections (32768 and up on Linux, 49152 and up elsewhere). While etcd is
// down between Kill and Restart, a port of that range could be taken by any
// connection of the machine, even by a client that dials this very port and
// meets itself.
const (
	firstPort = 15000
	portCount = 15000
	// portStride spreads the starting points of processes with successive IDs,
	// so that packages tested in parallel rarely try the same ports.
	portStride = 251
)

var errNoPort = errors.New("etcdtest: no free port on 127.0.0.1")

// portSource hands out each port once before it starts over.
type portSource struct{ next atomic.Int64 }

var ports = newPortSource(os.Getpid())

func newPortSource(pid int) *portSource {
	p := &portSource{}
	p.next.Store(int64(pid%portCount) * portStride)
	return p
}

// address returns a host:port of the loopback interface on which nobody
// listened just now.
func (p *portSource) address() (string, error) {
	for range portCount {
		port := firstPort + int(p.next.Add(1)%portCount)
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		ln, err := net.Listen("tcp", addr)
		if err != nil {
			continue
		}
		if err := ln.Close(); err != nil {
			return "", fmt.Errorf("etcdtest: give port back: %w", err)
		}
		return addr, nil
	}
	return "", errNoPort
}
