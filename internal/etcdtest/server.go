// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Server is one etcd process, or the place of one while it is down. Its
// endpoint and data folder stay the same for its whole life. Its methods may be
// called from several goroutines, those that can fail only from the test's own.
type Server struct {
	tb     testing.TB
	opts   options
	bin    string
	name   string
	dir    string
	member bool // one of several

	mu      sync.Mutex
	client  string // host:port
	peer    string // host:port
	cluster string // name=URL of each member's peer address
	token   string // gives servers with equal addresses different cluster IDs
	proc    *process
	logged  int64 // size of the log before this process
}

// Start runs etcd and returns when it answers a linearizable read. The first
// use on a machine builds etcd. The process ends with the test.
func Start(tb testing.TB, opts ...Option) *Server {
	tb.Helper()
	s := New(tb, opts...)
	s.startOnFreePorts()
	return s
}

// New returns a server that is down: the endpoint is known and refuses
// connections, [Server.Restart] starts etcd there. It is for tests in which
// etcd comes last.
func New(tb testing.TB, opts ...Option) *Server {
	tb.Helper()
	s := newServer(tb, "etcdtest", opts)
	s.check("choose ports", s.pickPorts())
	return s
}

// newServer returns a server that is down and has no ports yet.
func newServer(tb testing.TB, name string, opts []Option) *Server {
	tb.Helper()
	bin, err := etcdBinary(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	dir := filepath.Join(tb.TempDir(), "etcd")
	s := &Server{tb: tb, opts: newOptions(opts), bin: bin, name: name, dir: dir, token: dir}
	tb.Cleanup(s.close)
	return s
}

// Endpoint returns the client address as host:port.
func (s *Server) Endpoint() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client
}

// DataDir returns the folder in which etcd keeps its data.
func (s *Server) DataDir() string { return filepath.Join(s.dir, "data") }

// LogFile returns the file with the output of all runs of this server.
func (s *Server) LogFile() string { return filepath.Join(s.dir, "etcd.log") }

// Running reports whether the process is alive; a frozen one is.
func (s *Server) Running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proc.alive()
}

// Client returns a client of this server which logs nothing, reconnects within
// a tenth of a second and is closed at the end of tb's test. It does not wait
// for a connection. It has the certificates of [WithTLS] and the user of
// [WithAuth]. Each of change may alter the configuration.
func (s *Server) Client(tb testing.TB, change ...func(*clientv3.Config)) *clientv3.Client {
	tb.Helper()
	return testClient(tb, s.config(s.Endpoint()), change)
}

// startOnFreePorts is the first start.
func (s *Server) startOnFreePorts() {
	s.tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.check("start etcd", startOnFreePorts([]*Server{s}, s.pickPorts))
}

func (s *Server) pickPorts() (err error) {
	if s.client, err = ports.address(); err != nil {
		return err
	}
	s.peer, err = ports.address()
	s.cluster = s.name + "=" + s.peerURL()
	return err
}

func (s *Server) clientURL() string {
	if s.opts.tls != nil {
		return "https://" + s.client
	}
	return "http://" + s.client
}

func (s *Server) peerURL() string { return "http://" + s.peer }

// check ends the test on an error, with the end of etcd's output.
func (s *Server) check(doing string, err error) {
	s.tb.Helper()
	if err != nil {
		s.tb.Fatalf("etcdtest: %s at %s: %v\n%s", doing, s.client, err, s.logTail())
	}
}

func (s *Server) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.proc.kill()
	if s.tb.Failed() {
		if tail := s.logTail(); tail != "" {
			s.tb.Log(tail)
		}
	}
}

func (s *Server) openLog() (*os.File, error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(s.LogFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}
