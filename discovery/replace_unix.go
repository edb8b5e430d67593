// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !windows

package discovery

import (
	"io/fs"

	"github.com/google/renameio/v2"
)

// replaceFile replaces a file's content as a whole, or not at all.
func replaceFile(name string, content []byte, mode fs.FileMode) error {
	return renameio.WriteFile(name, content, mode, renameio.WithStaticPermissions(mode))
}
