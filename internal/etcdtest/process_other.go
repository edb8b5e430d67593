// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package etcdtest

import (
	"errors"
	"os"
	"syscall"
)

var errNoSignals = errors.New("processes cannot be frozen on this operating system")

func ownGroup() *syscall.SysProcAttr { return nil }

func terminate(p *os.Process) error { return p.Kill() }

func (p *process) freeze() error { return errNoSignals }

func (p *process) thaw() error { return errNoSignals }

// watchdog does nothing here: the package's documentation says so.
type watchdog struct{}

func watch(int) (*watchdog, error) { return &watchdog{}, nil }

func (*watchdog) dismiss() {}
