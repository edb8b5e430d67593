// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package lack knows the errors of a process or machine that cannot connect to
// anybody for want of something of its own: they say nothing about the other side.
package lack

import (
	"errors"
	"strings"
	"syscall"
)

var errnos = []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.EADDRNOTAVAIL}

// Is reports whether err wraps one of them.
func Is(err error) bool {
	for _, e := range errnos {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// Says reports whether the text of err names one of them: some libraries keep no
// more of the cause.
func Says(err error) bool {
	for _, e := range errnos {
		if strings.Contains(err.Error(), e.Error()) {
			return true
		}
	}
	return false
}
