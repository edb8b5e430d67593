// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
)

// link is one connection through a proxy.
type link struct {
	near net.Conn // to whoever dialled the proxy
	far  net.Conn // to the target; nil for one that came into a black hole

	lost Direction // where bytes were lost; guarded by the proxy's lock
}

func (l *link) close() {
	_ = l.near.Close()
	if l.far != nil {
		_ = l.far.Close()
	}
}

// serve carries one connection until both sides have ended.
func (p *Proxy) serve(ctx context.Context, near net.Conn) {
	l, ok := p.open(ctx, near)
	if !ok {
		_ = near.Close()
		return
	}
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		l.close()
		delete(p.links, l)
	}()
	if l.far == nil {
		_, _ = io.Copy(io.Discard, near)
		return
	}
	var ways sync.WaitGroup
	ways.Go(func() { p.carry(l, ToTarget, l.far, newSource(l.near, ToTarget)) })
	ways.Go(func() { p.carry(l, FromTarget, l.near, newSource(l.far, FromTarget)) })
	ways.Wait()
}

// open enters a new link. Outside a black hole it connects to the target first,
// and a proxy that was cut meanwhile refuses the link.
func (p *Proxy) open(ctx context.Context, near net.Conn) (*link, bool) {
	l := &link{near: near}
	if !p.inBlackhole() {
		var d net.Dialer
		far, err := d.DialContext(ctx, "tcp", p.target)
		if err != nil {
			return nil, false
		}
		l.far = far
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.close == nil || (l.far == nil && p.lost != bothWays) {
		l.close()
		return nil, false
	}
	if l.far == nil {
		l.lost = bothWays
	}
	p.links[l] = struct{}{}
	return l, true
}

// carry copies one direction of a link until it ends.
func (p *Proxy) carry(l *link, way Direction, dst net.Conn, src *source) {
	for {
		piece, err := src.next()
		if !p.swallow(l, way) && !p.frames.drops(src) {
			l.pass(dst, piece, err)
		}
		if err != nil {
			return
		}
	}
}

// pass hands a piece on, and the end that came with it.
func (l *link) pass(dst net.Conn, piece []byte, end error) {
	if _, err := dst.Write(piece); err != nil {
		l.close()
		return
	}
	if end != nil {
		finish(l, dst, end)
	}
}

// swallow reports whether what was just read vanishes.
func (p *Proxy) swallow(l *link, way Direction) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lost&way == 0 {
		return false
	}
	l.lost |= way
	return true
}

func (p *Proxy) inBlackhole() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lost == bothWays
}

// finish passes an orderly end on as one, so that the other direction can still
// deliver, and anything else as the end of both.
func finish(l *link, dst net.Conn, err error) {
	half, ok := dst.(interface{ CloseWrite() error })
	if !ok || !errors.Is(err, io.EOF) || half.CloseWrite() != nil {
		l.close()
	}
}
