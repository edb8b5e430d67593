// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package echotest

import (
	"net"
	"sync"
)

// tracked is a listener that can close what it has accepted, as the end of a
// process does. Kitex leaves idle connections open when a server stops.
type tracked struct {
	net.Listener

	mu    sync.Mutex
	conns []net.Conn
}

// Accept implements net.Listener.
func (l *tracked) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns = append(l.conns, conn)
	return conn, nil
}

func (l *tracked) closeConns() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, conn := range l.conns {
		_ = conn.Close() // most have been closed by their clients
	}
	l.conns = nil
}
