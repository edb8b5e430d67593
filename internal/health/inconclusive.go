// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"errors"
	"syscall"
)

// ours are the errors of a process or machine that cannot connect to anybody: they
// say nothing about the target.
var ours = []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.EADDRNOTAVAIL}

// inconclusive reports whether a check failed for want of something here.
func inconclusive(err error) bool {
	for _, e := range ours {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
