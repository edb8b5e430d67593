// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"os"

	"golang.org/x/sys/windows"
)

// enableSequences has the Windows console obey ANSI sequences, if it can.
func enableSequences(f *os.File) bool {
	handle := windows.Handle(f.Fd())
	var mode uint32
	if err := windows.GetConsoleMode(handle, &mode); err != nil {
		return false
	}
	return windows.SetConsoleMode(handle, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
