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
