// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

//go:build windows

package discovery

import (
	"io/fs"

	"github.com/google/renameio/v2/maybe"
)

// replaceFile replaces a file's content as well as Windows can.
func replaceFile(name string, content []byte, mode fs.FileMode) error {
	return maybe.WriteFile(name, content, mode)
}
