// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"
)

// lockPoll is how often a process that waits for another's build looks again.
const lockPoll = 100 * time.Millisecond

// cache keeps built binaries in a folder that several processes share.
type cache struct {
	dir   string
	note  io.Writer // where a person reads why a test takes minutes
	build func(ctx context.Context, out string) error
}

// binary returns the path of the command called name, building it when the
// folder has none. Of all callers, in this process and others, one builds and
// the others wait for it until ctx ends.
func (c *cache) binary(ctx context.Context, name, version string) (string, error) {
	path := filepath.Join(c.dir, name+exeSuffix())
	if found, err := exists(path); found || err != nil {
		return path, err
	}
	unlock, err := c.lock(ctx, name)
	if err != nil {
		return "", err
	}
	defer unlock()
	if found, err := exists(path); found || err != nil {
		return path, err
	}
	c.say("building %s %s once, about two minutes if the Go build cache is cold; it is kept in %s", name, version, c.dir)
	if err := c.buildInto(ctx, path); err != nil {
		return "", fmt.Errorf("etcdtest: build %s: %w", name, err)
	}
	return path, nil
}

// lock takes the lock of one binary, which the operating system releases when
// the holder dies. The lock file is never deleted: whoever has it open could
// otherwise hold a lock on a file that others no longer see.
func (c *cache) lock(ctx context.Context, name string) (unlock func(), err error) {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return nil, fmt.Errorf("etcdtest: make the cache folder: %w", err)
	}
	l := flock.New(filepath.Join(c.dir, name+".lock"))
	locked, err := l.TryLock()
	if err == nil && !locked {
		c.say("waiting for another test process that builds %s in %s", name, c.dir)
		_, err = l.TryLockContext(ctx, lockPoll)
	}
	if err != nil {
		return nil, fmt.Errorf("etcdtest: lock %s: %w", l.Path(), err)
	}
	return func() { _ = l.Unlock() }, nil
}

// buildInto gives path to readers only when it is whole. It runs under the
// lock, so a temporary file that is there belongs to a build that was killed.
func (c *cache) buildInto(ctx context.Context, path string) error {
	tmp := path + ".tmp"
	defer func() { _ = os.Remove(tmp) }() // not there after success
	if err := c.build(ctx, tmp); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

func (c *cache) say(format string, args ...any) {
	_, _ = fmt.Fprintf(c.note, "etcdtest: "+format+"\n", args...)
}

func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func exeSuffix() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}
