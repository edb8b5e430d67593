// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !windows

package discovery

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/google/renameio/v2"
)

// replaceFile replaces a file's content as a whole, or not at all. Its
// temporary file is in the same folder, where sweep finds what a crash leaves;
// by default renameio would try the system's folder first.
func replaceFile(name string, content []byte, mode fs.FileMode) error {
	dir := filepath.Dir(name)
	if err := renameio.WriteFile(name, content, mode, renameio.WithTempDir(dir), renameio.WithStaticPermissions(mode)); err != nil {
		return err
	}
	return syncDir(dir)
}

// syncDir has the rename itself survive a loss of power, on file systems that
// can tell.
func syncDir(name string) error {
	dir, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	if err := dir.Sync(); !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}
