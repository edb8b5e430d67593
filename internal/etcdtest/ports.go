// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/gofrs/flock"
)

// Ports come from below the range from which operating systems serve outgoing
// connections (32768 and up on Linux, 49152 and up elsewhere). While etcd is
// down between Kill and Restart, a port of that range could be taken by any
// connection of the machine, even by a client that dials this very port and
// meets itself. For the same reason a process has blocks of ports to itself:
// the tests of several packages run at a time.
const (
	firstPort  = 15000
	portCount  = 15000
	blockSize  = 100
	blockCount = portCount / blockSize
)

var errNoPort = errors.New("etcdtest: no free port on 127.0.0.1")

// portSource hands out each port once.
type portSource struct {
	dir   string // where the locks of the blocks are
	first int    // the block to try first

	mu   sync.Mutex
	left []int          // ports of the last block that is held
	held []*flock.Flock // until the process ends
}

var ports = newPortSource(filepath.Join(baseDir(), "ports"), os.Getpid())

func newPortSource(dir string, pid int) *portSource {
	return &portSource{dir: dir, first: pid % blockCount}
}

// address returns a host:port of the loopback interface on which nobody
// listened just now, and which no other process that uses this package gets.
func (p *portSource) address() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		if len(p.left) == 0 {
			if err := p.reserve(); err != nil {
				return "", err
			}
		}
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(p.left[0]))
		p.left = p.left[1:]
		ln, err := net.Listen("tcp", addr)
		if err != nil {
			continue
		}
		if err := ln.Close(); err != nil {
			return "", fmt.Errorf("etcdtest: give port back: %w", err)
		}
		return addr, nil
	}
}

// reserve takes the next block that no process has. The caller holds the lock.
func (p *portSource) reserve() error {
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return fmt.Errorf("etcdtest: folder for the locks of ports: %w", err)
	}
	for i := range blockCount {
		block := (p.first + i) % blockCount
		l := flock.New(filepath.Join(p.dir, strconv.Itoa(block)+".lock"))
		switch locked, err := l.TryLock(); {
		case err != nil:
			return fmt.Errorf("etcdtest: lock a block of ports: %w", err)
		case locked:
			p.take(l, block)
			return nil
		}
	}
	return errNoPort
}

func (p *portSource) take(l *flock.Flock, block int) {
	p.held = append(p.held, l)
	p.first = block + 1
	for i := range blockSize {
		p.left = append(p.left, firstPort+block*blockSize+i)
	}
}
