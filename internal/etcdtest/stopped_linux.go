// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

var errProcStat = errors.New("unknown format of /proc stat file")

// isStopped reports whether every thread of the process is stopped.
func isStopped(_ context.Context, pid int) (bool, error) {
	pattern := "/proc/" + strconv.Itoa(pid) + "/task/*/stat"
	files, err := filepath.Glob(pattern)
	if err != nil {
		return false, err
	}
	if len(files) == 0 {
		return false, errDown
	}
	for _, file := range files {
		stopped, err := threadStopped(file)
		if !stopped || err != nil {
			return false, err
		}
	}
	return true, nil
}

// threadStopped reads the state letter, which follows the command's name in
// parentheses; the name itself may hold any character.
func threadStopped(file string) (bool, error) {
	stat, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return true, nil // the thread has ended
	}
	if err != nil {
		return false, err
	}
	i := bytes.LastIndex(stat, []byte(") "))
	if i < 0 || i+2 >= len(stat) {
		return false, fmt.Errorf("%w: %s: %q", errProcStat, file, stat)
	}
	return stat[i+2] == 'T', nil
}
