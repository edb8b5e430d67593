// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

func TestCutIsSeenByClient(t *testing.T) {
	t.Parallel()
	srv := Start(t)
	proxy := NewProxy(t, srv.Endpoint())
	cli := srv.Client(t, Through(proxy))
	put(t, cli)

	proxy.Cut()
	if !refused(proxy.Addr()) {
		t.Error("a cut proxy accepts connections")
	}
	ctx, cancel := context.WithTimeout(t.Context(), briefly)
	defer cancel()
	if _, err := cli.Get(ctx, key); err == nil {
		t.Error("get succeeded through a cut proxy")
	}
	proxy.Cut() // again: nothing happens

	proxy.Restore()
	if got := get(t, cli); got != "v" {
		t.Errorf("value after Restore = %q, want v", got)
	}
}

func TestBlackholeIsSeenByClient(t *testing.T) {
	t.Parallel()
	srv := Start(t)
	proxy := NewProxy(t, srv.Endpoint())
	cli := srv.Client(t, Through(proxy))
	put(t, cli)

	proxy.Blackhole()
	mustHang(t, cli)
	if refused(proxy.Addr()) {
		t.Error("a black hole refuses connections")
	}
	mustHang(t, srv.Client(t, Through(proxy))) // a connection made in the black hole

	proxy.Restore()
	if got := get(t, cli); got != "v" {
		t.Errorf("value after Restore = %q, want v", got)
	}
}

func TestProxyPassesBytesAndHalfClose(t *testing.T) {
	t.Parallel()
	conn := dial(t, NewProxy(t, echoServer(t)).Addr())
	send(t, conn, "hello")
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(conn); string(got) != "hello" || err != nil {
		t.Errorf("echo = %q, %v", got, err)
	}
}

func TestCutClosesConnections(t *testing.T) {
	t.Parallel()
	proxy := NewProxy(t, echoServer(t))
	conn := dial(t, proxy.Addr())
	send(t, conn, "a")
	expect(t, conn, "a")
	proxy.Cut()
	expectEnd(t, conn)
	proxy.Blackhole() // listens again, and swallows
	if refused(proxy.Addr()) {
		t.Error("a black hole after a cut refuses connections")
	}
}

func TestBlackholeLosesBytesForGood(t *testing.T) {
	t.Parallel()
	proxy := NewProxy(t, echoServer(t))
	used, idle := dial(t, proxy.Addr()), dial(t, proxy.Addr())
	for _, conn := range []net.Conn{used, idle} {
		send(t, conn, "a")
		expect(t, conn, "a")
	}
	proxy.Blackhole()
	inside := dial(t, proxy.Addr())
	send(t, used, "b")
	expectSilence(t, used)
	proxy.Restore()
	expectEnd(t, used)
	expectEnd(t, inside)
	send(t, idle, "c") // lost nothing, so it lives
	expect(t, idle, "c")
}

func TestProxyOfNothingClosesConnections(t *testing.T) {
	t.Parallel()
	addr, err := ports.address()
	if err != nil {
		t.Fatal(err)
	}
	expectEnd(t, dial(t, NewProxy(t, addr).Addr()))
}

func TestOneWayIsLost(t *testing.T) {
	t.Parallel()
	srv := Start(t)
	for name, c := range map[string]struct {
		way     Direction
		arrives int64
	}{"requests": {ToTarget, 0}, "answers": {FromTarget, 1}} {
		proxy := NewProxy(t, srv.Endpoint())
		cli := srv.Client(t, Through(proxy))
		get(t, cli) // connected
		proxy.Blackhole(c.way)
		ctx, cancel := context.WithTimeout(t.Context(), briefly)
		if _, err := cli.Put(ctx, name, "v"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s lost: put = %v, want no answer", name, err)
		}
		cancel()
		resp, err := srv.Client(t).Get(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Count != c.arrives {
			t.Errorf("%s lost: etcd has %d keys of the put, want %d", name, resp.Count, c.arrives)
		}
		proxy.Restore()
		get(t, cli)
	}
}

func TestOneWayEndsConnectionsThatLostTheOther(t *testing.T) {
	t.Parallel()
	proxy := NewProxy(t, echoServer(t))
	deaf, dumb := dial(t, proxy.Addr()), dial(t, proxy.Addr())
	for _, conn := range []net.Conn{deaf, dumb} {
		send(t, conn, "a")
		expect(t, conn, "a")
	}
	proxy.Blackhole(FromTarget)
	send(t, deaf, "b")
	expectSilence(t, deaf)
	proxy.Blackhole(ToTarget)
	expectEnd(t, deaf) // its answer is lost, and answers pass again
	send(t, dumb, "b")
	expectSilence(t, dumb)
	proxy.Blackhole(ToTarget, FromTarget)
	send(t, dumb, "c")
	expectSilence(t, dumb)
	proxy.Restore()
	expectEnd(t, dumb)
}

func TestHeldConnectionsWait(t *testing.T) {
	t.Parallel()
	proxy := NewProxy(t, echoServer(t))
	before := dial(t, proxy.Addr())
	send(t, before, "a")
	expect(t, before, "a")
	proxy.Hold()
	held := []net.Conn{dial(t, proxy.Addr()), dial(t, proxy.Addr())}
	for _, conn := range held {
		send(t, conn, "b")
		expectSilence(t, conn)
	}
	if n := proxy.Accepted(); n != 1 {
		t.Errorf("%d connections accepted while others are held, want 1", n)
	}
	send(t, before, "c") // nothing happens to it
	expect(t, before, "c")
	proxy.Restore()
	for _, conn := range held {
		expect(t, conn, "b")
	}
	if n := proxy.Accepted(); n != 3 {
		t.Errorf("%d connections accepted, want 3", n)
	}
}

func TestCutEndsHeldConnections(t *testing.T) {
	t.Parallel()
	proxy := NewProxy(t, echoServer(t))
	proxy.Hold()
	first, second := dial(t, proxy.Addr()), dial(t, proxy.Addr())
	proxy.Cut()
	expectEnd(t, first)
	expectEnd(t, second)
	proxy.Hold() // listens again
	if refused(proxy.Addr()) {
		t.Error("a proxy that holds connections refuses them")
	}
}

// echoServer sends back what it gets, until the test ends.
func echoServer(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				_, _ = io.Copy(conn, conn)
			}()
		}
	}()
	return ln.Addr().String()
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn, err := net.DialTimeout("tcp", addr, soon)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func send(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
}

func expect(t *testing.T, conn net.Conn, want string) {
	t.Helper()
	got := make([]byte, len(want))
	setDeadline(t, conn, soon)
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != want {
		t.Errorf("read %q, %v; want %q", got, err, want)
	}
}

// expectEnd wants the connection closed or reset.
func expectEnd(t *testing.T, conn net.Conn) {
	t.Helper()
	setDeadline(t, conn, soon)
	n, err := conn.Read(make([]byte, 1))
	if n != 0 || err == nil || isTimeout(err) {
		t.Errorf("read %d bytes, %v; want the end of the connection", n, err)
	}
}

func expectSilence(t *testing.T, conn net.Conn) {
	t.Helper()
	setDeadline(t, conn, briefly)
	if n, err := conn.Read(make([]byte, 1)); !isTimeout(err) {
		t.Errorf("read %d bytes, %v; want nothing", n, err)
	}
}

func isTimeout(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded)
}

func setDeadline(t *testing.T, conn net.Conn, d time.Duration) {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(d)); err != nil {
		t.Fatal(err)
	}
}
