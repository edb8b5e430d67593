// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gofrs/flock"
)

const buildVar = "FAIRWAY_ETCDTEST_BUILD"

func TestManyCallersBuildOnce(t *testing.T) {
	t.Parallel()
	var builds atomic.Int32
	note := &bytes.Buffer{}
	dir := t.TempDir()
	var callers sync.WaitGroup
	var mu sync.Mutex
	for range 8 {
		callers.Go(func() {
			c := cache{dir: dir, note: lockedWriter{&mu, note}, build: func(_ context.Context, out string) error {
				builds.Add(1)
				return os.WriteFile(out, []byte("binary"), 0o700)
			}}
			path, err := c.binary(t.Context(), "etcd", "3.7.3")
			if err != nil {
				t.Error(err)
				return
			}
			if got, err := os.ReadFile(path); string(got) != "binary" {
				t.Errorf("content of %s = %q, %v", path, got, err)
			}
		})
	}
	callers.Wait()
	if n := builds.Load(); n != 1 {
		t.Errorf("%d builds, want 1", n)
	}
	if got := note.String(); strings.Count(got, "building etcd 3.7.3 once") != 1 || !strings.Contains(got, dir) {
		t.Errorf("notes = %q, want one line that names version and folder", got)
	}
}

type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

func TestSecondProcessWaitsForTheFirst(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := startBuilder(t, dir)
	first.line(t, "BUILDING")
	second := startBuilder(t, dir)
	second.line(t, "etcdtest: waiting for another test process")
	_ = first.stdin.Close() // lets it finish
	a, b := first.line(t, "BUILT "), second.line(t, "BUILT ")
	if a != b {
		t.Errorf("two paths: %s and %s", a, b)
	}
	if got, err := os.ReadFile(a); err != nil || !strings.HasPrefix(string(got), "by process ") {
		t.Errorf("the binary holds %q, %v", got, err)
	}
}

func TestNextProcessTakesOverFromAKilledOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := startBuilder(t, dir)
	first.line(t, "BUILDING")
	second := startBuilder(t, dir)
	second.line(t, "etcdtest: waiting for another test process")
	if err := first.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	second.line(t, "BUILDING")
	_ = second.stdin.Close()
	second.line(t, "BUILT ")
}

// builder is a second process of this test binary that runs TestHelperBuilder.
type builder struct {
	*helper
	cmd *exec.Cmd
}

func startBuilder(t *testing.T, dir string) builder {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestHelperBuilder$")
	cmd.Env = append(os.Environ(), buildVar+"="+dir)
	return builder{startHelper(t, cmd), cmd}
}

// TestHelperBuilder does nothing, except in the processes that the tests above
// start: there it wants a binary whose build ends when standard input does.
func TestHelperBuilder(t *testing.T) {
	dir := os.Getenv(buildVar)
	if dir == "" {
		return
	}
	c := cache{dir: dir, note: os.Stdout, build: func(_ context.Context, out string) error {
		fmt.Println("BUILDING")
		_, _ = io.Copy(io.Discard, os.Stdin)
		return os.WriteFile(out, fmt.Appendf(nil, "by process %d", os.Getpid()), 0o700)
	}}
	path, err := c.binary(t.Context(), "etcd", "3.7.3")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("BUILT " + path)
}

func TestFailedBuildLeavesNothing(t *testing.T) {
	t.Parallel()
	failure := errors.New("no compiler")
	c := cache{dir: t.TempDir(), note: io.Discard, build: func(_ context.Context, out string) error {
		return errors.Join(os.WriteFile(out, []byte("half"), 0o700), failure)
	}}
	if _, err := c.binary(t.Context(), "etcd", "3.7.3"); !errors.Is(err, failure) {
		t.Errorf("err = %v, want the build's", err)
	}
	left, err := filepath.Glob(filepath.Join(c.dir, "etcd*"))
	if err != nil || len(left) != 1 || filepath.Base(left[0]) != "etcd.lock" {
		t.Errorf("files left: %v, %v; want the lock only", left, err)
	}
	c.build = func(_ context.Context, out string) error { return os.WriteFile(out, nil, 0o700) }
	if _, err := c.binary(t.Context(), "etcd", "3.7.3"); err != nil {
		t.Errorf("second try: %v", err)
	}
}

func TestWaitEndsWithContext(t *testing.T) {
	t.Parallel()
	c := cache{dir: t.TempDir(), note: io.Discard}
	l := flock.New(filepath.Join(c.dir, "etcd.lock"))
	if err := l.Lock(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Unlock() }()
	ctx, cancel := context.WithTimeout(t.Context(), briefly)
	defer cancel()
	if _, err := c.binary(ctx, "etcd", "3.7.3"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("err = %v, want the context's", err)
	}
}
