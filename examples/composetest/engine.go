// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// engine runs docker and compose commands for one project.
type engine struct {
	root        string
	project     string
	version     string
	compose     []string // the command's first words
	composeName string
	env         []string
}

// interruptGrace is how long a command may go on after its context ended.
const interruptGrace = 10 * time.Second

func newEngine(ctx context.Context, root string, s settings) (*engine, error) {
	ports, err := freePorts(ctx, s.ports())
	if err != nil {
		return nil, err
	}
	e := &engine{root: root, project: fmt.Sprintf("fairway-composetest-%d", os.Getpid())}
	e.env = append(ownEnviron(os.Environ()), "COMPOSE_PROJECT_NAME="+e.project)
	e.env = append(e.env, ports...)
	if e.version, err = e.output(ctx, "docker", "version", "--format", "{{.Server.Version}}"); err != nil {
		return nil, fmt.Errorf("no Docker engine answers, start one: %w", err)
	}
	if err := e.findCompose(ctx); err != nil {
		return nil, err
	}
	return e, nil
}

// ownEnviron drops what would make compose read other files than a user's
// plain "docker compose up" does.
func ownEnviron(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains([]string{"COMPOSE_FILE", "COMPOSE_PROFILES", "COMPOSE_ENV_FILES", "COMPOSE_DISABLE_ENV_FILE"}, name)
	})
}

// findCompose takes the plugin, or else the older program of its own.
func (e *engine) findCompose(ctx context.Context) error {
	var errs []error
	for _, compose := range [][]string{{"docker", "compose"}, {"docker-compose"}} {
		version, err := e.output(ctx, append(compose, "version", "--short")...)
		if err == nil {
			e.compose = compose
			e.composeName = strings.Join(compose, " ") + " " + version
			return nil
		}
		errs = append(errs, err)
	}
	return fmt.Errorf("neither docker compose nor docker-compose works: %w", errors.Join(errs...))
}

// command prepares a command that is interrupted, not killed, when ctx ends.
func (e *engine) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = e.root
	cmd.Env = e.env
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = interruptGrace
	return cmd
}

// output returns what the command printed to standard output, trimmed.
func (e *engine) output(ctx context.Context, args ...string) (string, error) {
	cmd := e.command(ctx, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return strings.TrimSpace(stdout.String()), nil
}

// up runs a compose command and shows what it prints.
func (e *engine) up(ctx context.Context, args ...string) error {
	cmd := e.command(ctx, e.composeArgs(append([]string{"up", "-d"}, args...))...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s up: %w", e.composeName, err)
	}
	return nil
}

// do runs a compose command and returns its output.
func (e *engine) do(ctx context.Context, args ...string) (string, error) {
	return e.output(ctx, e.composeArgs(args)...)
}

func (e *engine) composeArgs(args []string) []string {
	return append(slices.Clone(e.compose), args...)
}

// down removes all that the project made: containers, network, volumes, images.
func (e *engine) down(ctx context.Context) error {
	_, err := e.do(ctx, "down", "--volumes", "--remove-orphans", "--rmi", "local", "--timeout", "20")
	return err
}

// printState shows the containers and the ends of their logs after a failure.
func (e *engine) printState(out io.Writer) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, args := range [][]string{{"ps", "-a"}, {"logs", "--no-color", "--tail=40"}} {
		text, err := e.do(ctx, args...)
		if err != nil {
			text = err.Error()
		}
		_, _ = fmt.Fprintf(out, "--- compose %s\n%s\n", strings.Join(args, " "), text)
	}
}
