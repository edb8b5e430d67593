// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const orphanVar = "FAIRWAY_ETCDTEST_ORPHAN"

func TestProcessEndsWithItsTestEvenFrozen(t *testing.T) {
	t.Parallel()
	var endpoint string
	t.Run("test", func(t *testing.T) {
		srv := Start(t)
		endpoint = srv.Endpoint()
		srv.Freeze()
	})
	if !refused(endpoint) {
		t.Error("etcd outlived its test")
	}
}

// A test process that is killed, as by a timeout, cleans nothing up itself.
func TestProcessEndsWithItsTestProcess(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^TestHelperOrphan$")
	cmd.Env = append(os.Environ(), orphanVar+"=1", "TMPDIR="+t.TempDir())
	h := startHelper(t, cmd)
	endpoint := h.line(t, "endpoint ")
	if refused(endpoint) {
		t.Fatal("the helper has no etcd")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "etcd is gone after its test process", func() bool { return refused(endpoint) })
}

// TestHelperOrphan does nothing, except in the process that the test above
// starts: there it runs until that is killed.
func TestHelperOrphan(t *testing.T) {
	if os.Getenv(orphanVar) == "" {
		return
	}
	srv := Start(t)
	srv.Freeze()
	fmt.Println("endpoint " + srv.Endpoint())
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// helper is a second process of this test binary.
type helper struct {
	stdin io.Closer
	lines *bufio.Scanner
}

// startHelper runs cmd, whose standard input stays open, until the test ends.
func startHelper(t *testing.T, cmd *exec.Cmd) *helper {
	t.Helper()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return &helper{stdin: stdin, lines: bufio.NewScanner(stdout)}
}

// line waits for a line of output that begins with prefix and returns the rest.
func (h *helper) line(t *testing.T, prefix string) string {
	t.Helper()
	for h.lines.Scan() {
		if rest, ok := strings.CutPrefix(h.lines.Text(), prefix); ok {
			return rest
		}
	}
	t.Fatalf("the helper process ended without printing %q", prefix)
	return ""
}
