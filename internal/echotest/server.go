// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package echotest

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/cloudwego/kitex/pkg/remote/trans/gonet"
	"github.com/cloudwego/kitex/server"

	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice"
)

// Server is an Echo server.
type Server struct {
	*Handler

	Address string

	exit chan error
	stop sync.Once
	done chan error
	err  error

	ended func()
}

// Start runs a server on a free loopback port until Stop or the end of the
// test. It knows no streams: it has the transport that Kitex uses on Windows, on
// Go's own network package. The default one closes a listener's file descriptor
// twice (netpoll v0.7.2, listener.Close), and in a process with other
// connections, such as a test with several servers, the second time may hit one
// of those.
func Start(tb testing.TB, opts ...server.Option) *Server {
	tb.Helper()
	return StartAt(tb, "127.0.0.1:0", opts...)
}

// StartAt is Start at an address, such as that of a server that was stopped.
func StartAt(tb testing.TB, address string, opts ...server.Option) *Server {
	tb.Helper()
	return StartOn(tb, listen(tb, address), opts...)
}

// StartOn is Start on another listener, of a Unix socket for instance.
func StartOn(tb testing.TB, on net.Listener, opts ...server.Option) *Server {
	tb.Helper()
	listener := &tracked{Listener: on}
	s := start(tb, listener, append([]server.Option{
		server.WithTransServerFactory(gonet.NewTransServerFactory()),
		server.WithTransHandlerFactory(gonet.NewSvrTransHandlerFactory()),
	}, opts...))
	s.ended = listener.closeConns
	return s
}

// StartStreaming is Start with Kitex's default transport, which knows streams.
// Stop it, by ending the test, while the process does little else.
func StartStreaming(tb testing.TB, opts ...server.Option) *Server {
	tb.Helper()
	return start(tb, listen(tb, "127.0.0.1:0"), opts)
}

func listen(tb testing.TB, address string) net.Listener {
	tb.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		tb.Fatal(err)
	}
	return listener
}

func start(tb testing.TB, listener net.Listener, opts []server.Option) *Server {
	tb.Helper()
	s := &Server{Address: listener.Addr().String(), exit: make(chan error, 1), done: make(chan error, 1), ended: func() {}}
	s.Handler = &Handler{Instance: s.Address}
	opts = append([]server.Option{
		server.WithListener(listener),
		server.WithExitWaitTime(time.Second / 4),
		server.WithExitSignal(func() <-chan error { return s.exit }),
	}, opts...)
	svr := echoservice.NewServer(s.Handler, opts...)
	go func() { s.done <- svr.Run() }()
	tb.Cleanup(func() {
		if err := s.Stop(); err != nil {
			tb.Errorf("echo server %s: %v", s.Address, err)
		}
	})
	return s
}

// Stop does what a signal does: Kitex deregisters, ends the calls under way and
// closes the listener. It returns what Run returned.
func (s *Server) Stop() error {
	s.stop.Do(func() {
		s.exit <- nil
		// Kitex waits for connections, and those of streams stay open.
		if s.err = <-s.done; errors.Is(s.err, context.DeadlineExceeded) {
			s.err = nil
		}
		s.ended()
	})
	return s.err
}
