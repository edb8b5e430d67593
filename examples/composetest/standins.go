// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
)

// standinLabel marks the images built here, and by inheritance those that a
// build made on top of one.
const standinLabel = "fairway.composetest.standin"

// standins are local images under the names of the public base images.
type standins struct {
	engine   *engine
	settings settings
	root     string
	say      *narrator
	built    []string
}

// build makes the images that the compose file and the Dockerfile start from.
func (s *standins) build(ctx context.Context) error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("%s=1 makes images of this machine's Go toolchain and needs Linux, not %s", standinsVar, runtime.GOOS)
	}
	images, err := readBaseImages(s.root, s.settings)
	if err != nil {
		return err
	}
	for _, name := range []string{images.etcd, images.golang} {
		if err := s.refuseForeign(ctx, name); err != nil {
			return err
		}
	}
	work, err := os.MkdirTemp("", "composetest")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	if err := s.etcd(ctx, images.etcd, work); err != nil {
		return fmt.Errorf("stand-in for %s: %w", images.etcd, err)
	}
	if err := s.golang(ctx, images, work); err != nil {
		return fmt.Errorf("stand-in for %s: %w", images.golang, err)
	}
	return nil
}

// refuseForeign returns an error if the name is an image that was not built here.
func (s *standins) refuseForeign(ctx context.Context, name string) error {
	label, err := s.engine.output(ctx, "docker", "image", "inspect", "--format",
		fmt.Sprintf("{{index .Config.Labels %q}}", standinLabel), name)
	switch {
	case err != nil && strings.Contains(strings.ToLower(err.Error()), "no such image"):
		return nil
	case err != nil:
		return err
	case label == "":
		return fmt.Errorf("image %s is there and is no stand-in: run without %s, or remove the image", name, standinsVar)
	}
	return nil // left by a run that was killed
}

// load makes an image of one layer from what fill writes.
func (s *standins) load(ctx context.Context, name string, env []string, fill func(*layer) error) error {
	args := []string{"docker", "import", "--change", "LABEL " + standinLabel + "=1"}
	for _, kv := range env {
		args = append(args, "--change", "ENV "+kv)
	}
	cmd := s.engine.command(ctx, append(args, "-", name)...)
	r, w := io.Pipe()
	var out strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r, &out, &out
	filled := make(chan error, 1)
	go func() {
		l := newLayer(w)
		err := errors.Join(fill(l), l.close())
		filled <- err
		_ = w.CloseWithError(err) // never fails
	}()
	err := cmd.Run()
	_ = r.CloseWithError(io.ErrClosedPipe) // ends a fill whose reader is gone
	if fillErr := <-filled; fillErr != nil && !errors.Is(fillErr, io.ErrClosedPipe) {
		return fillErr
	}
	if err != nil {
		return fmt.Errorf("docker import: %w: %s", err, out.String())
	}
	s.built = append(s.built, name)
	return nil
}

// remove deletes the images, and the left-over build stages that start from them.
func (s *standins) remove(ctx context.Context) error {
	if len(s.built) == 0 {
		return nil
	}
	s.say.step("removing the stand-ins")
	_, err := s.engine.output(ctx, "docker", "image", "prune", "--force", "--filter", "label="+standinLabel)
	for _, name := range s.built {
		_, rmErr := s.engine.output(ctx, "docker", "image", "rm", name)
		err = errors.Join(err, rmErr)
	}
	return err
}
