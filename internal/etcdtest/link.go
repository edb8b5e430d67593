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

	lossy bool // lost bytes; guarded by the proxy's lock
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
	ways.Go(func() { p.carry(l, l.far, l.near) })
	ways.Go(func() { p.carry(l, l.near, l.far) })
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
	if p.mode == cut || (l.far == nil && p.mode == passing) {
		l.close()
		return nil, false
	}
	l.lossy = l.far == nil
	p.links[l] = struct{}{}
	return l, true
}

// carry copies one direction of a link until it ends, and hands its end on.
func (p *Proxy) carry(l *link, dst, src net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		n, err := src.Read(buf)
		if (n > 0 || err != nil) && p.swallow(l) {
			if err != nil {
				return
			}
			continue
		}
		if n > 0 {
			if _, werr := dst.Write(buf[:n]); werr != nil {
				l.close()
				return
			}
		}
		if err != nil {
			finish(l, dst, err)
			return
		}
	}
}

// swallow reports whether what was just read vanishes.
func (p *Proxy) swallow(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mode != swallowing {
		return false
	}
	l.lossy = true
	return true
}

func (p *Proxy) inBlackhole() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mode == swallowing
}

// finish passes an orderly end on as one, so that the other direction can still
// deliver, and anything else as the end of both.
func finish(l *link, dst net.Conn, err error) {
	half, ok := dst.(interface{ CloseWrite() error })
	if !ok || !errors.Is(err, io.EOF) || half.CloseWrite() != nil {
		l.close()
	}
}
