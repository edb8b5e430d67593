// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"
)

// ErrInvalidSnapshot is wrapped by the errors about a disk copy that cannot be
// used: damaged, of another service or cluster, or of a newer format.
var ErrInvalidSnapshot = errors.New("fairway: invalid disk copy")

// diskCopy keeps one file per service of one cluster name and prefix. Several
// processes may share the folder: see docs/disk-copy.md.
type diskCopy struct {
	dir     string
	cluster string
	prefix  string
	swept   atomic.Int64 // when stale temporary files were looked for, in Unix nanoseconds
}

// newDiskCopy keeps copies in <dir>/<cluster>/<prefix>, both escaped. It fails
// only if there is no dir to be found. What the folder itself lacks at the
// moment is for save to report and to try again.
func newDiskCopy(dir, cluster, prefix string) (*diskCopy, error) {
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("no cache folder for the disk copy; name one with WithSnapshotDir: %w", err)
		}
		dir = filepath.Join(cache, "fairway")
	}
	d := &diskCopy{dir: filepath.Join(dir, fileName("c-"+cluster), fileName("p-"+prefix)), cluster: cluster, prefix: prefix}
	_ = d.makeDir()
	return d, nil
}

func (d *diskCopy) makeDir() error {
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return fmt.Errorf("folder of the disk copy: %w", err)
	}
	return nil
}

func (d *diskCopy) file(service string) string {
	return filepath.Join(d.dir, fileName("s-"+service)+".json")
}

// save replaces the service's file as a whole, so that a reader or a crash
// finds the old one or the new one. If another process has put a later proof
// there, that one stays, and save succeeds.
func (d *diskCopy) save(s *savedService) error {
	content, err := d.encode(s)
	if err != nil {
		return err
	}
	if err := d.makeDir(); err != nil { // again: caches get cleaned
		return err
	}
	unlock, err := lockFile(d.file(s.Service) + ".lock")
	if err != nil {
		return err
	}
	defer unlock()
	if d.holdsLater(s) {
		return nil
	}
	d.sweep()
	return replaceFile(d.file(s.Service), content, 0o600)
}

// load reads and checks a file. It needs no lock, since files are replaced
// whole. Its errors wrap fs.ErrNotExist or ErrInvalidSnapshot, or are the
// file system's.
func (d *diskCopy) load(service string) (*savedService, error) {
	content, err := os.ReadFile(d.file(service))
	if err != nil {
		return nil, err
	}
	return d.decode(content, service)
}

// maxFileName leaves room below the 255 bytes of most file systems.
const maxFileName = 200

// fileName escapes what some file system gives a meaning of its own; capital
// letters too, since some fold case, and a dot at the end, which Windows drops.
// The prefixes that callers put in front keep names from being those of its
// devices. Different names become different ones; where one would be too long,
// its end is replaced by a hash, and the file's header has the last word.
func fileName(name string) string {
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-', c == '_', c == '.' && i < len(name)-1:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	if escaped := b.String(); len(escaped) <= maxFileName {
		return escaped
	}
	return fmt.Sprintf("%s~%016x", b.String()[:maxFileName], xxhash.Sum64String(name))
}
