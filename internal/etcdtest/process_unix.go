// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package etcdtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// freezeTimeout bounds the wait for the kernel to stop every thread.
const freezeTimeout = 10 * time.Second

var errNotFrozen = errors.New("the process did not stop after SIGSTOP")

// ownGroup keeps a Ctrl-C at the terminal, which goes to the whole group, from
// ending a child before the test that owns it.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// terminate sends SIGTERM and wakes a frozen process so that it can act on it.
func terminate(p *os.Process) error {
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return p.Signal(syscall.SIGCONT)
}

// freeze waits until the child has really stopped: on a busy machine it may
// answer for some milliseconds after the signal was sent.
func (p *process) freeze() error {
	if !p.alive() {
		return errDown
	}
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), freezeTimeout)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		stopped, err := isStopped(ctx, p.cmd.Process.Pid)
		if stopped || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w within %v", errNotFrozen, freezeTimeout)
		case <-tick.C:
		}
	}
}

func (p *process) thaw() error {
	if !p.alive() {
		return errDown
	}
	return p.cmd.Process.Signal(syscall.SIGCONT)
}
