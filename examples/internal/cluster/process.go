// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// processEnv says in the environment that this program is to be a provider, and
// which one, in JSON.
const processEnv = "FAIRWAY_CLUSTER_PROVIDER"

// processStartTimeout bounds the start of the process, up to its listener.
const processStartTimeout = 30 * time.Second

// serving is what the process says first, followed by its address.
const serving = "SERVING "

// ProcessConfig is what a provider in a process of its own needs to know.
type ProcessConfig struct {
	// Etcd is the host:port of etcd.
	Etcd    string        `json:"etcd"`
	Service string        `json:"service"`
	Weight  int           `json:"weight"`
	TTL     time.Duration `json:"ttl_ns"`
}

// Process is a provider in a process of its own, which can therefore be killed.
// Its methods are safe for concurrent use.
type Process struct {
	// Address is where it listens.
	Address string

	cmd   *exec.Cmd
	stdin io.Closer
	kill  func() error
}

// StartProcess starts this program again as a provider, for which the program
// must call [RunProcess] before all else. Logs go to log. It returns when the
// provider listens; Kitex registers it a second later.
func StartProcess(ctx context.Context, cfg ProcessConfig, log io.Writer) (*Process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start a provider's process: %w", err)
	}
	text, err := json.Marshal(cfg)
	if err != nil {
		return nil, fmt.Errorf("start a provider's process: %w", err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program)
	cmd.Env = append(os.Environ(), processEnv+"="+string(text))
	cmd.Stderr = log
	p := &Process{cmd: cmd}
	p.kill = sync.OnceValue(p.end)
	stdin, err := cmd.StdinPipe() // which tells it that this process has ended
	if err != nil {
		return nil, fmt.Errorf("start a provider's process: %w", err)
	}
	p.stdin = stdin
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start a provider's process: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a provider's process: %w", err)
	}
	if err := p.hear(ctx, stdout); err != nil {
		_ = p.Kill()
		return nil, fmt.Errorf("start a provider's process: %w", err)
	}
	return p, nil
}

// hear waits for the address that the process serves at.
func (p *Process) hear(ctx context.Context, stdout io.Reader) error {
	ctx, cancel := context.WithTimeoutCause(ctx, processStartTimeout, fmt.Errorf("it does not serve after %v", processStartTimeout))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = p.cmd.Process.Kill() }) // ends the read
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if !stop() {
		return context.Cause(ctx)
	}
	address, ok := strings.CutPrefix(strings.TrimSpace(line), serving)
	if !ok {
		return fmt.Errorf("it said %q instead of its address: %w", line, err)
	}
	p.Address = address
	return nil
}

// Kill kills the process as kill -9 does: it cannot leave etcd or end calls. It
// returns when the process is gone and its connections are closed, and does
// nothing if it is already.
func (p *Process) Kill() error { return p.kill() }

func (p *Process) end() error {
	err := p.cmd.Process.Kill()
	_ = p.cmd.Wait() // says that it was killed
	_ = p.stdin.Close()
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill the provider at %s: %w", p.Address, err)
	}
	return nil
}
