// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Direction is one way through a [Proxy], or both.
type Direction uint8

// The ways.
const (
	ToTarget   Direction = 1 << iota // what clients send
	FromTarget                       // what etcd sends

	bothWays = ToTarget | FromTarget
)

// Proxy is a TCP proxy that can fail as networks do. Its methods may be called
// from several goroutines; those that can fail belong on the test's.
type Proxy struct {
	tb     testing.TB
	addr   string
	target string

	changing sync.Mutex     // held while the mode changes
	running  sync.WaitGroup // the accept loop and everything that it started
	frames   frameFilter
	accepted atomic.Int64

	mu    sync.Mutex
	close func()        // ends the accept loop and dialling; nil while cut
	lost  Direction     // what vanishes
	gate  chan struct{} // closed when new connections may go on; nil unless held
	links map[*link]struct{}
}

// NewProxy listens on a free port of 127.0.0.1 and connects whoever comes to
// target (host:port). While nothing listens there, connections to the proxy are
// accepted and closed again. The proxy ends with the test.
func NewProxy(tb testing.TB, target string) *Proxy {
	tb.Helper()
	addr, err := ports.address()
	if err != nil {
		tb.Fatal(err)
	}
	p := &Proxy{tb: tb, addr: addr, target: target, links: make(map[*link]struct{})}
	p.Restore()
	tb.Cleanup(p.Cut)
	return p
}

// Addr returns the proxy's address as host:port, which never changes.
func (p *Proxy) Addr() string { return p.addr }

// Accepted returns how many connections the proxy has taken since the beginning,
// in whatever mode. Those that [Proxy.Hold] holds are not counted yet.
func (p *Proxy) Accepted() int { return int(p.accepted.Load()) }

// Through makes [Server.Client] and [Cluster.Client] connect by way of proxies:
//
//	cli := srv.Client(t, etcdtest.Through(p))
func Through(proxies ...*Proxy) func(*clientv3.Config) {
	return func(cfg *clientv3.Config) {
		cfg.Endpoints = nil
		for _, p := range proxies {
			cfg.Endpoints = append(cfg.Endpoints, p.Addr())
		}
	}
}

// Cut closes every connection and refuses new ones, and returns when that is so.
func (p *Proxy) Cut() {
	p.changing.Lock()
	defer p.changing.Unlock()
	p.mu.Lock()
	if p.close != nil {
		p.close()
		p.close = nil
	}
	p.letPass()
	p.drop(func(*link) bool { return true })
	p.mu.Unlock()
	p.running.Wait()
}

// Blackhole keeps connections and accepts new ones, but every byte that goes one
// of ways vanishes, as does the end of a connection; without ways, in both
// directions. After a Cut it listens again. Connections that lost bytes in a
// direction which is not among ways are closed, since their streams have holes.
func (p *Proxy) Blackhole(ways ...Direction) {
	p.tb.Helper()
	lost := bothWays
	if len(ways) > 0 {
		lost = 0
	}
	for _, way := range ways {
		lost |= way
	}
	p.change(func() { p.lost = lost })
}

// Hold makes new connections wait: they are established, by the operating
// system, and get no answer. Nothing changes for those that are there. After a
// Cut it listens again.
func (p *Proxy) Hold() {
	p.tb.Helper()
	p.change(func() {
		if p.gate == nil {
			p.gate = make(chan struct{})
		}
	})
}

// Restore lets everything pass again, frames and held connections too, and
// listens again on the same port. Connections that lost bytes are closed, since
// their streams have holes; those that lost whole frames live on.
func (p *Proxy) Restore() {
	p.tb.Helper()
	p.frames.set(nil)
	p.change(p.letPass)
}

// letPass lets bytes and connections pass. The caller holds the lock.
func (p *Proxy) letPass() {
	p.lost = 0
	if p.gate != nil {
		close(p.gate)
		p.gate = nil
	}
}

// change enters another mode, under the lock.
func (p *Proxy) change(set func()) {
	p.tb.Helper()
	p.changing.Lock()
	defer p.changing.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.close == nil {
		if err := p.listen(); err != nil {
			p.tb.Fatalf("etcdtest: proxy for %s: %v", p.target, err)
		}
	}
	set()
	p.drop(func(l *link) bool { return l.lost&^p.lost != 0 })
}

// listen opens the port and accepts. The caller holds the lock, so that nothing
// that comes in sees the old mode.
func (p *Proxy) listen() error {
	ln, err := net.Listen("tcp", p.addr)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.close = func() {
		cancel()
		_ = ln.Close()
	}
	p.running.Go(func() { p.accept(ctx, ln) })
	return nil
}

// drop closes the links that match; their goroutines end by that. The caller
// holds the lock.
func (p *Proxy) drop(match func(*link) bool) {
	for l := range p.links {
		if match(l) {
			l.close()
			delete(p.links, l)
		}
	}
}

func (p *Proxy) accept(ctx context.Context, ln net.Listener) {
	for {
		conn, err := ln.Accept()
		if err != nil {
			return // closed by Cut
		}
		if !p.admit(ctx) {
			_ = conn.Close()
			return
		}
		p.accepted.Add(1)
		p.running.Go(func() { p.serve(ctx, conn) })
	}
}

// admit waits while connections are held. It returns false after a Cut.
func (p *Proxy) admit(ctx context.Context) bool {
	for {
		p.mu.Lock()
		gate := p.gate
		p.mu.Unlock()
		if gate == nil {
			return true
		}
		select {
		case <-gate:
		case <-ctx.Done():
			return false
		}
	}
}
