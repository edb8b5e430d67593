// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"net"
	"sync"
)

// tracked is a listener that can close what it has accepted, as the end of a
// process does. Kitex leaves idle connections open when a server stops.
type tracked struct {
	net.Listener

	mu   sync.Mutex
	open map[*trackedConn]struct{}
}

type trackedConn struct {
	net.Conn

	listener *tracked
}

func newTracked(l net.Listener) *tracked {
	return &tracked{Listener: l, open: make(map[*trackedConn]struct{})}
}

// Accept implements net.Listener.
func (l *tracked) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	conn := &trackedConn{accepted, l}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[conn] = struct{}{}
	return conn, nil
}

// Close implements net.Conn.
func (c *trackedConn) Close() error {
	c.listener.mu.Lock()
	delete(c.listener.open, c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}

// closeConns closes what is open.
func (l *tracked) closeConns() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for conn := range l.open {
		_ = conn.Conn.Close() // upon which Kitex closes it, too
	}
}
