// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

const (
	composeFile = "docker-compose.yml"
	dockerfile  = "examples/Dockerfile"
	envFile     = ".env"

	standinsVar = "COMPOSE_TEST_STANDINS"

	// takeDown bounds the end of a run, which an interrupt does not shorten.
	takeDown = 3 * time.Minute
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		if ctx.Err() != nil {
			err = errors.New("interrupted")
		}
		fmt.Fprintln(os.Stderr, "composetest:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop was called
	}
}

// run prepares the images and the project, plays the scenario and cleans up.
func run(ctx context.Context) (err error) {
	root, err := findRoot()
	if err != nil {
		return err
	}
	vars, err := readSettings(filepath.Join(root, envFile))
	if err != nil {
		return err
	}
	say := newNarrator(os.Stdout)
	engine, err := newEngine(ctx, root, vars)
	if err != nil {
		return err
	}
	say.step("engine %s, %s, project %s", engine.version, engine.composeName, engine.project)

	if os.Getenv(standinsVar) == "1" {
		images := &standins{engine: engine, settings: vars, root: root, say: say}
		defer cleanUp(&err, images.remove)
		if err := images.build(ctx); err != nil {
			return err
		}
	}
	defer cleanUp(&err, func(ctx context.Context) error {
		say.step("taking everything down")
		return engine.down(ctx)
	})
	if err := newScenario(engine, say).play(ctx); err != nil {
		if ctx.Err() == nil {
			say.step("FAILED: %v", err)
			engine.printState(os.Stdout)
		}
		return err
	}
	say.step("passed")
	return nil
}

// cleanUp runs f even when the run was interrupted, and adds its error to err.
func cleanUp(err *error, f func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), takeDown)
	defer cancel()
	*err = errors.Join(*err, f(ctx))
}

// findRoot returns the nearest folder, from the working directory up, that
// holds the compose file.
func findRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, composeFile)); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no %s in %s or above it: run inside a clone of the repository", composeFile, start)
		}
	}
}
