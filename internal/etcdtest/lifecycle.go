// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"os"
	"time"
)

// stopTimeout bounds a clean stop, which takes a fraction of a second, and far
// longer on a machine that is overloaded.
const stopTimeout = 30 * time.Second

// Kill ends the process at once (SIGKILL), as a power cut does. A server that
// is down stays down.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.proc.kill()
}

// Stop asks the process to end (SIGTERM) and waits until it has, thawing it
// first. A server that is down stays down.
func (s *Server) Stop() {
	s.tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.check("stop etcd", s.proc.stop(stopTimeout))
}

// Restart starts etcd on the same port with the same data and returns when it
// answers a linearizable read, which a member of a cluster can only with a
// majority. A running process is stopped first.
func (s *Server) Restart() {
	s.tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.check("stop etcd", s.proc.stop(stopTimeout))
	s.check("restart etcd", bringUp(s))
}

// Wipe kills the process if it runs and deletes all data: the next Restart
// brings up an empty etcd on the same port. As with a real cluster whose
// configuration did not change, the new one has the old one's cluster ID while
// its revisions begin again at 1. It fails the test for a member of a [Cluster].
func (s *Server) Wipe() {
	s.tb.Helper()
	s.mustBeAlone("Wipe")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.proc.kill()
	s.check("delete the data of etcd", os.RemoveAll(s.DataDir()))
}

// Freeze suspends the process (SIGSTOP) and returns when it has stopped: its
// connections stay open, new ones are accepted by the kernel, nothing answers.
func (s *Server) Freeze() {
	s.tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.check("freeze etcd", s.proc.freeze())
}

// Thaw lets a frozen process go on (SIGCONT).
func (s *Server) Thaw() {
	s.tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.check("thaw etcd", s.proc.thaw())
}

// mustBeAlone refuses what would make a member contradict the others.
func (s *Server) mustBeAlone(method string) {
	s.tb.Helper()
	if s.member {
		s.tb.Fatalf("etcdtest: %s is for a server of its own, not for one of several members", method)
	}
}
