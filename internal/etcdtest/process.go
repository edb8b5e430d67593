// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

var (
	errDown       = errors.New("the process is not running")
	errStopIsSlow = errors.New("the process did not end after SIGTERM and was killed")
)

// process is a child that has been started. A nil process is one that is down.
type process struct {
	cmd  *exec.Cmd
	dog  *watchdog
	done chan struct{} // closed when the child has been waited for
}

// startProcess runs bin with its output in out.
func startProcess(bin string, args, env []string, out *os.File) (*process, error) {
	cmd := exec.Command(bin, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, out, out
	cmd.SysProcAttr = ownGroup()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("run %s: %w", bin, err)
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	var err error
	p.dog, err = watch(cmd.Process.Pid)
	go p.reap()
	if err != nil {
		p.kill()
		return nil, fmt.Errorf("start the watchdog of %s: %w", bin, err)
	}
	return p, nil
}

// reap waits for the child; how it ended is in its log.
func (p *process) reap() {
	defer close(p.done)
	_ = p.cmd.Wait()
	p.dog.dismiss()
}

func (p *process) alive() bool {
	if p == nil {
		return false
	}
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// kill ends the child, also a frozen one, and waits for its end.
func (p *process) kill() {
	if p == nil {
		return
	}
	_ = p.cmd.Process.Kill() // fails only when it has ended already
	<-p.done
}

// stop asks the child to end and waits; after timeout it kills it.
func (p *process) stop(timeout time.Duration) error {
	if !p.alive() {
		return nil
	}
	if err := terminate(p.cmd.Process); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-p.done:
		return nil
	case <-timer.C:
		p.kill()
		return fmt.Errorf("%w within %v", errStopIsSlow, timeout)
	}
}
