// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !windows

package demo

import "os"

// enableSequences has nothing to do: terminals obey ANSI sequences.
func enableSequences(*os.File) bool { return true }
