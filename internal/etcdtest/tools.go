// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

const toolsModule = "github.com/fairway-rpc/fairway/tools"

var (
	errNoTools   = errors.New("etcdtest: the folder tools of the repository, which pins etcd, was not found: run the test inside a clone")
	errNoVersion = errors.New("etcdtest: tools/go.mod does not require etcd")
)

// findTools returns the folder of the tools module. The source file's own path
// is useless under -trimpath and in a binary that was moved, the working
// directory in one that is run from elsewhere; either is enough.
func findTools() (string, error) {
	_, source, _, _ := runtime.Caller(0)
	starts := []string{filepath.Dir(source)}
	if wd, err := os.Getwd(); err == nil {
		starts = append(starts, wd)
	}
	for _, start := range starts {
		if dir, ok := toolsAbove(start); ok {
			return dir, nil
		}
	}
	return "", errNoTools
}

// toolsAbove looks for the tools module beside start and each of its parents.
func toolsAbove(start string) (string, bool) {
	if !filepath.IsAbs(start) {
		return "", false
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		tools := filepath.Join(dir, "tools")
		if mod, err := os.ReadFile(filepath.Join(tools, "go.mod")); err == nil && modulePath(mod) == toolsModule {
			return tools, true
		}
		if dir == filepath.Dir(dir) {
			return "", false
		}
	}
}

func modulePath(mod []byte) string {
	for line := range bytes.Lines(mod) {
		if fields := strings.Fields(string(line)); len(fields) == 2 && fields[0] == "module" {
			return fields[1]
		}
	}
	return ""
}

// cacheDir returns the folder for binaries built from the tools module as it
// stands, for this platform, and etcd's version.
func cacheDir(tools string) (dir, version string, err error) {
	if version, err = etcdVersion(filepath.Join(tools, "go.mod")); err != nil {
		return "", "", err
	}
	sum, err := os.ReadFile(filepath.Join(tools, "go.sum"))
	if err != nil {
		return "", "", fmt.Errorf("etcdtest: %w", err)
	}
	hash := sha256.Sum256(sum)
	key := strings.Join([]string{version, runtime.GOOS, runtime.GOARCH, hex.EncodeToString(hash[:8])}, "-")
	return filepath.Join(baseDir(), key), version, nil
}

// baseDir is where what outlives a test is kept.
func baseDir() string {
	base, err := os.UserCacheDir()
	if err != nil { // no home directory, as in some containers
		base = os.TempDir()
	}
	return filepath.Join(base, "fairway-etcdtest")
}

// etcdVersion reads the required version, without the leading v.
func etcdVersion(modFile string) (string, error) {
	mod, err := os.Open(modFile)
	if err != nil {
		return "", fmt.Errorf("etcdtest: %w", err)
	}
	defer func() { _ = mod.Close() }()
	lines := bufio.NewScanner(mod)
	for lines.Scan() {
		fields := strings.Fields(strings.TrimPrefix(lines.Text(), "require "))
		if len(fields) >= 2 && fields[0] == etcdPackage {
			return strings.TrimPrefix(fields[1], "v"), nil
		}
	}
	if err := lines.Err(); err != nil {
		return "", fmt.Errorf("etcdtest: read %s: %w", modFile, err)
	}
	return "", errNoVersion
}

// goBuild compiles one command of the tools module for this machine. Settings
// for the tests that are running, such as GOFLAGS=-race or -modfile, a workspace
// or a foreign GOARCH, do not reach it.
func goBuild(ctx context.Context, tools, pkg, out string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-C", tools, "-o", out, pkg)
	cmd.Env = append(os.Environ(),
		"GOFLAGS=-mod=readonly -buildvcs=false",
		"GOWORK=off",
		"GOOS="+runtime.GOOS,
		"GOARCH="+runtime.GOARCH,
	)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, text)
	}
	return nil
}
