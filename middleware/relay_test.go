// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware_test

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// relay passes connections on to a server, whatever they carry, until it is cut.
// One that is broken closes each connection as soon as it is asked something, as a
// program does that cannot work any more.
type relay struct {
	broken   atomic.Bool
	listener net.Listener
	target   string
	running  sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
	isCut bool
}

func newRelay(t testing.TB, target string) *relay {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{listener: listener, target: target}
	r.running.Go(r.accept)
	t.Cleanup(func() {
		r.cut()
		r.running.Wait()
	})
	return r
}

func (r *relay) address() string { return r.listener.Addr().String() }

// cut ends all connections and takes no more.
func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.isCut = true
	_ = r.listener.Close()
	for _, c := range r.conns {
		_ = c.Close()
	}
}

func (r *relay) accept() {
	for {
		near, err := r.listener.Accept()
		if err != nil {
			return
		}
		if r.broken.Load() {
			r.running.Go(func() {
				_, _ = near.Read(make([]byte, 1))
				_ = near.Close()
			})
			continue
		}
		far, err := net.Dial("tcp", r.target)
		if err != nil || !r.add(near, far) {
			_ = near.Close()
			continue
		}
		r.running.Go(func() { r.carry(near, far) })
		r.running.Go(func() { r.carry(far, near) })
	}
}

func (r *relay) add(near, far net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conns = append(r.conns, near, far)
	if r.isCut {
		_ = far.Close()
	}
	return !r.isCut
}

func (r *relay) carry(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	_, _ = to.Close(), from.Close()
}
