// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Folders of the official Go image.
const (
	imageGoroot   = "usr/local/go"
	imageModcache = "go/pkg/mod"
)

// golang packs the local toolchain, and the modules that the Dockerfile's
// packages need, so that its go build finds all of them without a network.
func (s *standins) golang(ctx context.Context, images baseImages, work string) error {
	s.say.step("stand-in for %s from the local toolchain and module cache", images.golang)
	goroot, err := s.goEnv(ctx, "GOROOT")
	if err != nil {
		return err
	}
	if goroot, err = filepath.EvalSymlinks(goroot); err != nil {
		return err
	}
	modules, err := s.modules(ctx, images.packages, work)
	if err != nil {
		return err
	}
	env := []string{
		"PATH=/go/bin:/" + imageGoroot + "/bin",
		"GOPATH=/go",
		"GOTOOLCHAIN=local",
	}
	return s.load(ctx, images.golang, env, func(l *layer) error {
		return errors.Join(
			l.dir("tmp", true),
			l.tree(imageGoroot, goroot, notForBuilds),
			l.tree(imageModcache, modules, func(string, fs.DirEntry) bool { return false }),
		)
	})
}

// modules fills a module cache with no more than the packages need, out of the
// local one, and out of the network only if that lacks something.
func (s *standins) modules(ctx context.Context, packages []string, work string) (string, error) {
	cache, err := s.goEnv(ctx, "GOMODCACHE")
	if err != nil {
		return "", err
	}
	proxy, err := s.goEnv(ctx, "GOPROXY")
	if err != nil {
		return "", err
	}
	modules := filepath.Join(work, "modules")
	env := []string{
		"GOMODCACHE=" + modules,
		"GOPROXY=file://" + filepath.ToSlash(filepath.Join(cache, "cache", "download")) + "," + proxy,
	}
	return modules, s.goTool(ctx, "examples", env, append([]string{"list", "-deps"}, packages...)...)
}

// notForBuilds names the parts of GOROOT that compiling never reads.
func notForBuilds(relative string, d fs.DirEntry) bool {
	if d.IsDir() {
		return d.Name() == "testdata" || slices.Contains([]string{"api", "doc", "misc", "test"}, relative)
	}
	return strings.HasSuffix(relative, "_test.go")
}

// goTool runs the go command in a folder of the repository, set up as the
// Dockerfile's is: static programs for Linux, without a workspace.
func (s *standins) goTool(ctx context.Context, dir string, env []string, args ...string) error {
	cmd := s.engine.command(ctx, append([]string{"go"}, args...)...)
	cmd.Dir = filepath.Join(s.root, dir)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOWORK=off",
		"GOFLAGS=-mod=readonly -modcacherw -buildvcs=false")
	cmd.Env = append(cmd.Env, env...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, text)
	}
	return nil
}

func (s *standins) goEnv(ctx context.Context, name string) (string, error) {
	return s.engine.output(ctx, "go", "env", name)
}
