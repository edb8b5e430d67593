// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package etcdtest

import (
	"os/exec"
	"strconv"
)

// watchdog is a shell that blocks on a pipe from this process and kills the
// child when the pipe breaks, which is when this process dies, however it does.
//
// Linux could do this with Pdeathsig, but that signal comes when the *thread*
// that started the child ends, and other systems have nothing like it.
type watchdog struct{ cmd *exec.Cmd }

const watchdogScript = `read -r _; kill -9 "$1"`

func watch(pid int) (*watchdog, error) {
	cmd := exec.Command("/bin/sh", "-c", watchdogScript, "etcdtest-watchdog", strconv.Itoa(pid))
	cmd.SysProcAttr = ownGroup()
	// The command holds the writing end, which nobody writes to.
	if _, err := cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &watchdog{cmd: cmd}, nil
}

// dismiss ends the watchdog before the pipe closes, which Wait does.
func (w *watchdog) dismiss() {
	if w == nil {
		return
	}
	_ = w.cmd.Process.Kill()
	_ = w.cmd.Wait()
}
