// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

const (
	// lockTries and lockPause bound the wait for another process to half a
	// second: it holds the lock for the time of one write.
	lockTries = 50
	lockPause = 10 * time.Millisecond
	// clockTolerance is how far ahead of the present a proof may be. One from
	// further ahead was made by a wrong clock, and would win for ever.
	clockTolerance = time.Minute
	// staleAfter is when a temporary file has been left behind by a crash.
	staleAfter = time.Minute
)

var errLockHeld = errors.New("another process holds it")

// lockFile takes the lock that writers of one file share, which the operating
// system releases when its holder dies. The lock file is never deleted: whoever
// has it open could otherwise hold a lock on a file that others no longer see.
func lockFile(name string) (unlock func(), err error) {
	l := flock.New(name)
	for range lockTries {
		locked, err := l.TryLock()
		if err != nil {
			return nil, fmt.Errorf("lock of the disk copy: %w", err)
		}
		if locked {
			return func() { _ = l.Unlock() }, nil
		}
		pause(context.Background(), lockPause, nil)
	}
	return nil, fmt.Errorf("lock of the disk copy %s: %w", name, errLockHeld)
}

// holdsLater reports whether a good file with a later proof than s's is in
// place. Only the time tells: revisions of another cluster, or of one that was
// restored, mean nothing beside ours. Callers hold the lock.
func (d *diskCopy) holdsLater(s *savedService) bool {
	name := d.file(s.Service)
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() { // a pipe would hold us up
		return false
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return false
	}
	proved := provedAt(content)
	if !proved.After(s.ProvedAt) || proved.After(time.Now().Add(clockTolerance)) {
		return false
	}
	_, err = d.decode(content, s.Service)
	return err == nil
}

// provedAt reads one field alone: in most saves it is the only one that
// matters.
func provedAt(content []byte) time.Time {
	var file struct {
		Body struct {
			ProvedAt time.Time `json:"proved_at"`
		} `json:"body"`
	}
	if err := json.Unmarshal(content, &file); err != nil {
		return time.Time{}
	}
	return file.Body.ProvedAt
}

// sweep removes the temporary files that crashed processes left, once in a
// while. One of a process that is merely slow makes that process save again.
func (d *diskCopy) sweep() {
	now := time.Now()
	last := d.swept.Load()
	if now.UnixNano()-last < int64(staleAfter) || !d.swept.CompareAndSwap(last, now.UnixNano()) {
		return
	}
	found, err := os.ReadDir(d.dir)
	if err != nil {
		return // the save will meet the same error, and has somebody to tell
	}
	for _, f := range found {
		if info, err := f.Info(); err == nil && isTemporary(f.Name()) && now.Sub(info.ModTime()) > staleAfter {
			_ = os.Remove(filepath.Join(d.dir, f.Name()))
		}
	}
}

// isTemporary knows the names that replaceFile gives: a dot, the file's name, a
// number.
func isTemporary(name string) bool {
	rest, ours := strings.CutPrefix(name, ".s-")
	at := strings.LastIndex(rest, ".json")
	if !ours || at < 0 {
		return false
	}
	number := rest[at+len(".json"):]
	return number != "" && strings.Trim(number, "0123456789") == ""
}
