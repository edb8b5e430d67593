// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

const (
	// readyTimeout bounds a start, stopTimeout a clean stop: both take a
	// fraction of a second, and far longer on a machine that is overloaded.
	readyTimeout = 30 * time.Second
	stopTimeout  = 30 * time.Second
)

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
// answers a linearizable read. A running process is stopped first.
func (s *Server) Restart() {
	s.tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.check("stop etcd", s.proc.stop(stopTimeout))
	s.check("restart etcd", s.start())
}

// Wipe kills the process if it runs and deletes all data: the next Restart
// brings up an empty etcd on the same port. As with a real cluster whose
// configuration did not change, the new one has the old one's cluster ID while
// its revisions begin again at 1.
func (s *Server) Wipe() {
	s.tb.Helper()
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

// start runs the process and waits until it is ready; on an error nothing runs.
func (s *Server) start() error {
	out, err := s.openLog()
	if err != nil {
		return fmt.Errorf("open its log: %w", err)
	}
	defer func() { _ = out.Close() }() // the child has its own handle
	before, err := out.Stat()
	if err != nil {
		return fmt.Errorf("size of its log: %w", err)
	}
	s.proc, err = startProcess(s.bin, s.args(), s.environ(), out)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
	defer cancel()
	ours := func() bool { return s.servesSince(before.Size()) }
	if err := waitReady(ctx, clientConfig(s.client), s.proc.done, ours); err != nil {
		s.proc.kill()
		return err
	}
	return nil
}

func (s *Server) args() []string {
	const name = "etcdtest"
	client, peer := "http://"+s.client, "http://"+s.peer
	args := []string{
		"--name=" + name,
		"--data-dir=" + s.DataDir(),
		"--listen-client-urls=" + client,
		"--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=" + name + "=" + peer,
		// A token of its own gives every server its own cluster ID.
		"--initial-cluster-token=" + s.dir,
		"--log-outputs=stderr",
	}
	if !s.opts.fsync {
		args = append(args, "--unsafe-no-fsync")
	}
	return append(args, s.opts.flags...)
}

// environ keeps the ETCD_ variables of the user's shell, each of which stands
// for a flag, away from the process.
func (s *Server) environ() []string {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(kv, "ETCD_")
	})
	return append(env, s.opts.env...)
}
