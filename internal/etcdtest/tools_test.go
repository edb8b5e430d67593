// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestToolsAreFoundFromEverywhereInTheRepository(t *testing.T) {
	t.Parallel()
	tools, err := findTools()
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Dir(tools)
	for _, start := range []string{root, filepath.Join(root, "examples", "demo"), filepath.Join(root, "internal", "x")} {
		if got, ok := toolsAbove(start); !ok || got != tools {
			t.Errorf("from %s: %q, %v; want %s", start, got, ok, tools)
		}
	}
	for _, start := range []string{t.TempDir(), "github.com/fairway-rpc/fairway/internal/etcdtest"} {
		if got, ok := toolsAbove(start); ok {
			t.Errorf("from %s: found %s", start, got)
		}
	}
}

func TestForeignToolsFolderIsPassedOver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "tools"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "tools", "go.mod"), []byte("module example.com/tools\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, ok := toolsAbove(dir); ok {
		t.Errorf("took %s", got)
	}
}

func TestCacheFolderFollowsThePins(t *testing.T) {
	t.Parallel()
	tools := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(tools, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module m\n\nrequire (\n\tgo.etcd.io/etcd/server/v3 v3.8.1 // indirect\n)\n")
	write("go.sum", "a")
	dir, version, err := cacheDir(tools)
	if err != nil || version != "3.8.1" || !strings.HasPrefix(filepath.Base(dir), "3.8.1-") {
		t.Errorf("cacheDir = %s, %s, %v", dir, version, err)
	}
	write("go.sum", "b")
	if other, _, _ := cacheDir(tools); other == dir {
		t.Error("another go.sum shares the folder")
	}
	write("go.mod", "module m\n")
	if _, _, err := cacheDir(tools); err == nil {
		t.Error("no error without etcd in go.mod")
	}
}

// The environment of `go test -modfile=... ` and of cross-compiling must not
// change what is built.
func TestBuildIgnoresTheSettingsOfTheTests(t *testing.T) {
	tools, err := findTools()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOFLAGS", "-mod=vendor -modfile=none.mod")
	t.Setenv("GOWORK", filepath.Join(t.TempDir(), "go.work"))
	t.Setenv("GOARCH", "riscv64")
	t.Setenv("GOOS", "plan9")
	out := filepath.Join(t.TempDir(), "etcd")
	if err := goBuild(t.Context(), tools, etcdPackage, out); err != nil {
		t.Fatal(err)
	}
	text, err := exec.Command(out, "--version").CombinedOutput()
	if err != nil || !strings.Contains(string(text), "etcd Version: ") {
		t.Errorf("etcd --version = %q, %v", text, err)
	}
}

func TestEtcdctl(t *testing.T) {
	t.Parallel()
	srv := Start(t)
	put(t, srv.Client(t))
	out, err := exec.Command(Etcdctl(t), "--endpoints="+srv.Endpoint(), "get", "k").CombinedOutput()
	if err != nil || string(out) != "k\nv\n" {
		t.Errorf("etcdctl get = %q, %v", out, err)
	}
}
