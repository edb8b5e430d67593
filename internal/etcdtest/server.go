// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// startAttempts bounds how often Start tries other ports.
const startAttempts = 5

// Server is one etcd process, or the place of one while it is down. Its
// endpoint and data folder stay the same for its whole life. Its methods may be
// called from several goroutines, those that can fail only from the test's own.
type Server struct {
	tb   testing.TB
	opts options
	bin  string
	dir  string

	mu     sync.Mutex
	client string // host:port
	peer   string // host:port
	proc   *process
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
	bin, err := etcdBinary(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	s := &Server{tb: tb, opts: newOptions(opts), bin: bin, dir: filepath.Join(tb.TempDir(), "etcd")}
	s.pickPorts()
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
// for a connection. Each of change may alter the configuration.
func (s *Server) Client(tb testing.TB, change ...func(*clientv3.Config)) *clientv3.Client {
	tb.Helper()
	cfg := clientConfig(s.Endpoint())
	for _, f := range change {
		f(&cfg)
	}
	cli, err := clientv3.New(cfg)
	if err != nil {
		tb.Fatalf("etcdtest: create a client of %s: %v", s.Endpoint(), err)
	}
	tb.Cleanup(func() { _ = cli.Close() })
	return cli
}

func clientConfig(endpoint string) clientv3.Config {
	return clientv3.Config{
		Endpoints:   []string{endpoint},
		Logger:      zap.NewNop(),
		DialOptions: quickReconnect(),
	}
}

// startOnFreePorts tries other ports when somebody took the chosen ones.
func (s *Server) startOnFreePorts() {
	s.tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.start()
	for i := 1; i < startAttempts && s.portTaken(err); i++ {
		s.check("clear the folder of etcd", os.RemoveAll(s.dir))
		s.pickPorts()
		err = s.start()
	}
	s.check("start etcd", err)
}

func (s *Server) pickPorts() {
	s.tb.Helper()
	var err error
	if s.client, err = ports.address(); err == nil {
		s.peer, err = ports.address()
	}
	if err != nil {
		s.tb.Fatal(err)
	}
}

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
