// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// layer writes files into the tar stream of an image.
type layer struct {
	tar *tar.Writer
}

func newLayer(w io.Writer) *layer {
	return &layer{tar: tar.NewWriter(w)}
}

func (l *layer) close() error { return l.tar.Close() }

// dir adds a folder. A shared one, such as /tmp, is open to every user.
func (l *layer) dir(name string, shared bool) error {
	mode := int64(0o755)
	if shared {
		mode = 0o1777
	}
	return l.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: mode})
}

// file adds a copy of a file of this machine.
func (l *layer) file(name, source string) error {
	f, err := os.Open(source)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: info.Size(), Mode: int64(info.Mode().Perm() | 0o444), ModTime: info.ModTime()}
	if err := l.tar.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(l.tar, f)
	return err
}

// tree adds the regular files and folders below source, without what skip names.
func (l *layer) tree(name, source string, skip func(relative string, d fs.DirEntry) bool) error {
	return filepath.WalkDir(source, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(source, file)
		if err != nil {
			return err
		}
		target := path.Join(name, filepath.ToSlash(relative))
		switch {
		case relative != "." && skip(relative, d):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return l.dir(target, false)
		case d.Type().IsRegular():
			return l.file(target, file)
		}
		return nil
	})
}
