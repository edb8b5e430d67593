// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Proxy is a TCP proxy that can fail as networks do. Its methods may be called
// from several goroutines; [Proxy.Restore] can fail and belongs on the test's.
type Proxy struct {
	tb     testing.TB
	addr   string
	target string

	changing sync.Mutex     // held while the mode changes
	running  sync.WaitGroup // the accept loop and everything that it started

	mu    sync.Mutex
	mode  mode
	close func() // ends the accept loop and dialling; set unless cut
	links map[*link]struct{}
}

type mode int

const (
	passing mode = iota
	swallowing
	cut
)

// NewProxy listens on a free port of 127.0.0.1 and connects whoever comes to
// target (host:port). While nothing listens there, connections to the proxy are
// accepted and closed again. The proxy ends with the test.
func NewProxy(tb testing.TB, target string) *Proxy {
	tb.Helper()
	addr, err := ports.address()
	if err != nil {
		tb.Fatal(err)
	}
	p := &Proxy{tb: tb, addr: addr, target: target, mode: cut, links: make(map[*link]struct{})}
	p.Restore()
	tb.Cleanup(p.Cut)
	return p
}

// Addr returns the proxy's address as host:port, which never changes.
func (p *Proxy) Addr() string { return p.addr }

// Through makes [Server.Client] connect by way of p:
//
//	cli := srv.Client(t, etcdtest.Through(p))
func Through(p *Proxy) func(*clientv3.Config) {
	return func(cfg *clientv3.Config) { cfg.Endpoints = []string{p.Addr()} }
}

// Cut closes every connection and refuses new ones, and returns when that is so.
func (p *Proxy) Cut() {
	p.changing.Lock()
	defer p.changing.Unlock()
	p.mu.Lock()
	if p.mode != cut {
		p.mode = cut
		p.close()
	}
	p.drop(func(*link) bool { return true })
	p.mu.Unlock()
	p.running.Wait()
}

// Blackhole keeps connections and accepts new ones, but every byte vanishes in
// both directions, as does the end of a connection. After a Cut it listens again.
func (p *Proxy) Blackhole() {
	p.tb.Helper()
	p.enter(swallowing)
}

// Restore lets bytes pass again and listens again on the same port. Connections
// that lost bytes are closed, since their streams have holes.
func (p *Proxy) Restore() {
	p.tb.Helper()
	p.enter(passing)
}

func (p *Proxy) enter(m mode) {
	p.tb.Helper()
	p.changing.Lock()
	defer p.changing.Unlock()
	if err := p.switchTo(m); err != nil {
		p.tb.Fatal(err)
	}
}

func (p *Proxy) switchTo(m mode) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mode == cut {
		if err := p.listen(); err != nil {
			return fmt.Errorf("etcdtest: proxy for %s: %w", p.target, err)
		}
	}
	p.mode = m
	if m == passing {
		p.drop(func(l *link) bool { return l.lossy })
	}
	return nil
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
		p.running.Go(func() { p.serve(ctx, conn) })
	}
}
