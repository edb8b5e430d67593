// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package repocheck

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// root is the repository's folder: go test runs a package's tests in its own.
const root = "../.."

// notOurs are the names of what is no source of this repository. In a worktree
// .git is a file.
var notOurs = map[string]bool{".git": true, "bin": true, ".idea": true, ".vscode": true}

// file is one file of the repository.
type file struct {
	path string // from the root, with slashes
	text string
}

func (f file) name() string    { return path.Base(f.path) }
func (f file) ext() string     { return path.Ext(f.path) }
func (f file) isScript() bool  { return strings.HasPrefix(f.text, "#!") }
func (f file) generated() bool { return strings.HasPrefix(f.path, "idl/kitex_gen/") }
func (f file) lines() int      { return strings.Count(f.text, "\n") }

// files reads every file of the repository, nested modules included.
func files(t *testing.T) []file {
	t.Helper()
	var all []file
	err := filepath.WalkDir(root, func(at string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && notOurs[entry.Name()]:
			return filepath.SkipDir
		case !entry.Type().IsRegular() || notOurs[entry.Name()]:
			return nil
		}
		text, err := os.ReadFile(at)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, at)
		all = append(all, file{path: filepath.ToSlash(rel), text: string(text)})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("the repository holds no files")
	}
	return all
}

// read returns the text of one file that must be there.
func read(t *testing.T, rel string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(rel)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
