// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
)

// tailLines is how much of etcd's output a failed test shows.
const tailLines = 40

// logTail returns the end of etcd's output, or "" when there is none.
func (s *Server) logTail() string {
	text, err := os.ReadFile(s.LogFile())
	if errors.Is(err, os.ErrNotExist) || (err == nil && len(text) == 0) {
		return ""
	}
	if err != nil {
		return fmt.Sprintf("etcd's output is unreadable: %v", err)
	}
	lines := bytes.Split(bytes.TrimRight(text, "\n"), []byte("\n"))
	lines = lines[max(0, len(lines)-tailLines):]
	return fmt.Sprintf("etcd at %s, last %d lines of output:\n%s", s.client, len(lines), bytes.Join(lines, []byte("\n")))
}

// servesSince reports whether etcd's output after the first offset bytes says
// that it has its ports and serves.
func (s *Server) servesSince(offset int64) bool {
	text, err := os.ReadFile(s.LogFile())
	return err == nil && bytes.Contains(text[min(offset, int64(len(text))):], []byte("ready to serve client requests"))
}

// portTaken reports whether etcd ended because somebody else listens on one of
// its ports.
func (s *Server) portTaken() bool {
	return !s.proc.alive() && strings.Contains(s.logTail(), "address already in use")
}
