// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLayerOfAToolchain(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"bin/go", "src/fmt/print.go", "src/fmt/print_test.go", "src/fmt/testdata/x.go", "test/a.go", "src/test/b.go"} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var buf bytes.Buffer
	l := newLayer(&buf)
	if err := errors.Join(l.dir("tmp", true), l.tree("go", root, notForBuilds), l.close()); err != nil {
		t.Fatal(err)
	}

	want := map[string]int64{
		"tmp/": 0o1777,
		"go/":  0o755, "go/bin/": 0o755, "go/src/": 0o755, "go/src/fmt/": 0o755, "go/src/test/": 0o755,
		"go/bin/go": 0o744, "go/src/fmt/print.go": 0o744, "go/src/test/b.go": 0o744,
	}
	if diff := cmp.Diff(want, modes(t, &buf)); diff != "" {
		t.Error(diff)
	}
}

// modes lists the entries of a tar stream.
func modes(t *testing.T, stream io.Reader) map[string]int64 {
	t.Helper()
	found := make(map[string]int64)
	for r := tar.NewReader(stream); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		found[header.Name] = header.Mode
	}
}
