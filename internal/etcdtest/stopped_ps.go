// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix && !linux

package etcdtest

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strconv"
)

// isStopped reports whether the process is stopped.
func isStopped(ctx context.Context, pid int) (bool, error) {
	out, err := exec.CommandContext(ctx, "ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return false, fmt.Errorf("ask ps for the state of process %d: %w", pid, err)
	}
	return bytes.HasPrefix(bytes.TrimSpace(out), []byte("T")), nil
}
