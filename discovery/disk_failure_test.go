// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fairway-rpc/fairway/internal/etcdtest"
)

// loggedResolver keeps its lines, for tests to count them.
func loggedResolver(t *testing.T, cli *clientv3.Client, opts ...ResolverOption) (*Resolver, *lines) {
	t.Helper()
	log := &lines{}
	opts = append([]ResolverOption{WithLogger(slog.New(slog.NewTextHandler(log, nil)))}, opts...)
	r, err := NewResolver(cli, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r, log
}

// TestFolderThatCannotBeMadeStopsNobody has a file in its place, and takes the
// file away.
func TestFolderThatCannotBeMadeStopsNobody(t *testing.T) {
	t.Parallel()
	cli := etcdtest.Start(t).Client(t)
	put(t, cli, "fairway/echo/a:1", value("a:1", 1))
	dir := filepath.Join(t.TempDir(), "folder")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r, log := loggedResolver(t, cli, WithSnapshotDir(dir))
	if got := addresses(t, r, "echo"); got != "a:1" {
		t.Errorf("instances %q", got)
	}
	waitFor(t, "the failure is reported", func() bool { return log.count("disk copy not written") > 0 })
	put(t, cli, "fairway/echo/b:1", value("b:1", 1))
	waitFor(t, "changes go on", func() bool { return addresses(t, r, "echo") == "a:1 b:1" })
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	_ = r.Close() // writes what is owed
	if saved, err := r.disk.load("echo"); err != nil || len(saved.Records) != 2 {
		t.Errorf("the copy holds %+v, %v; want both instances", saved, err)
	}
	if n := log.count("level=WARN"); n != 1 {
		t.Errorf("%d warnings, want 1: %v", n, log.all)
	}
	if n := log.count("disk copy written again"); n != 1 {
		t.Errorf("the end of the failure is reported %d times, want once", n)
	}
}

func TestNoHomeFolderStopsNobody(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems know the cache folder otherwise")
	}
	t.Setenv("HOME", "")
	t.Setenv("XDG_CACHE_HOME", "")
	r, log := loggedResolver(t, dialTest(t, deadEndpoint(t)), WithResolveTimeout(time.Millisecond))
	for _, service := range []string{"echo", "other"} {
		if _, err := r.Resolve(t.Context(), service); !errors.Is(err, ErrRegistryUnavailable) {
			t.Errorf("got %v, want ErrRegistryUnavailable", err)
		}
	}
	_ = r.Close()
	if n := log.count("no disk copy"); n != 1 || log.count("level=WARN") != 1 {
		t.Errorf("%d lines about the missing folder, want one warning: %v", n, log.all)
	}
}
