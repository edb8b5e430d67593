// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package repocheck

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestSnippetsCompile(t *testing.T) {
	if len(goBlocks(read(t, "README.md"))) == 0 {
		t.Fatal("README.md shows no Go code")
	}
	for _, file := range []string{"README.md", "docs/operations.md", "docs/migration.md", "docs/policies.md"} {
		for _, b := range goBlocks(read(t, file)) {
			t.Run(fmt.Sprintf("%s line %d", file, b.line), func(t *testing.T) {
				t.Parallel()
				compile(t, file, b)
			})
		}
	}
}

func compile(t *testing.T, file string, b block) {
	t.Helper()
	if !formatted(b) {
		t.Errorf("%s:%d: the Go code is not gofmt'ed", file, b.line)
	}
	source, err := program(b, file)
	if err != nil {
		t.Fatalf("%s:%d: %v", file, b.line, err)
	}
	if strings.Contains(source, "/fairway/internal/") {
		t.Errorf("%s:%d: the Go code imports a package that users cannot import", file, b.line)
	}
	build(t, source)
}

// build compiles and links a program inside the root module, so that it gets the
// module's versions. The program exists in an overlay only, not in the tree.
func build(t *testing.T, source string) {
	t.Helper()
	dir := t.TempDir()
	onDisk := filepath.Join(dir, "main.go")
	inTree, err := filepath.Abs(filepath.Join("snippet", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{inTree: onDisk}})
	if err != nil {
		t.Fatal(err)
	}
	overlayFile := filepath.Join(dir, "overlay.json")
	for path, content := range map[string]string{onDisk: source, overlayFile: string(overlay)} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-overlay", overlayFile, "-o", os.DevNull, "./snippet")
	if output, err := build.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", build, err, output)
	}
}
