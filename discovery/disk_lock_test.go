// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// provedAgo is a state with that revision which was proved that long ago.
func provedAgo(age time.Duration, revision int64) *savedService {
	s := testSaved()
	s.ProvedAt, s.Revision = time.Now().Add(-age), revision
	return s
}

func TestLaterProofWins(t *testing.T) {
	for name, test := range map[string]struct {
		first, second time.Duration // ages
		want          int64
	}{
		"a later one replaces":            {first: time.Minute, second: time.Second, want: 2},
		"an earlier one does not":         {first: time.Second, second: time.Minute, want: 1},
		"one of a slightly fast clock":    {first: -30 * time.Second, second: 0, want: 1},
		"one of a wrong clock never wins": {first: -time.Hour, second: 0, want: 2},
	} {
		t.Run(name, func(t *testing.T) {
			d := testDisk(t, "c1", "fairway")
			mustSave(t, d, provedAgo(test.first, 1))
			mustSave(t, d, provedAgo(test.second, 2))
			if got := mustLoad(t, d).Revision; got != test.want {
				t.Errorf("the file holds state %d, want %d", got, test.want)
			}
		})
	}
}

// TestEarlierRevisionWithALaterProofWins: after a restore of etcd revisions
// begin again.
func TestEarlierRevisionWithALaterProofWins(t *testing.T) {
	d := testDisk(t, "c1", "fairway")
	mustSave(t, d, provedAgo(time.Minute, 1000))
	mustSave(t, d, provedAgo(time.Second, 3))
	if got := mustLoad(t, d).Revision; got != 3 {
		t.Errorf("revision %d, want that of the restored etcd", got)
	}
}

// TestUselessFileIsReplaced although it says to be proved later.
func TestUselessFileIsReplaced(t *testing.T) {
	later := testDisk(t, "c1", "fairway")
	mustSave(t, later, provedAgo(time.Second, 1))
	good, err := os.ReadFile(later.file("echo"))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"damaged":        bytes.Replace(good, []byte("xxh64:"), []byte("xxh64:0"), 1),
		"truncated":      good[:len(good)/2],
		"empty":          {},
		"another format": bytes.Replace(good, []byte(`"format": 1`), []byte(`"format": 9`), 1),
		"foreign":        bytes.Replace(good, []byte(`"c1"`), []byte(`"c2"`), 1),
	} {
		t.Run(name, func(t *testing.T) {
			d := testDisk(t, "c1", "fairway")
			if err := os.WriteFile(d.file("echo"), content, 0o600); err != nil {
				t.Fatal(err)
			}
			mustSave(t, d, provedAgo(time.Hour, 2))
			if got := mustLoad(t, d).Revision; got != 2 {
				t.Errorf("state %d, want the one that was saved", got)
			}
		})
	}
}

func TestSaveGivesUpOnAHeldLock(t *testing.T) {
	d := testDisk(t, "c1", "fairway")
	l := flock.New(d.file("echo") + ".lock")
	if ok, err := l.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	began := time.Now()
	if err := d.save(testSaved()); !errors.Is(err, errLockHeld) {
		t.Errorf("got %v, want errLockHeld", err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	if err := l.Unlock(); err != nil {
		t.Fatal(err)
	}
	mustSave(t, d, testSaved())
	wantFiles(t, d, "s-echo.json", "s-echo.json.lock")
}

func TestSaveWaitsForALockHeldBriefly(t *testing.T) {
	d := testDisk(t, "c1", "fairway")
	l := flock.New(d.file("echo") + ".lock")
	if ok, err := l.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	release := time.AfterFunc(5*lockPause, func() { _ = l.Unlock() })
	defer release.Stop()
	mustSave(t, d, testSaved())
}

func TestStaleTemporaryFilesAreSweptUp(t *testing.T) {
	d := testDisk(t, "c1", "fairway")
	old := time.Now().Add(-2 * staleAfter)
	for name, modified := range map[string]time.Time{
		".s-echo.json123": old, ".s-other%2e.json9": old, // crashed
		".s-echo.json45": time.Now(),                                                  // being written
		".s-echo.json":   old, ".hidden1": old, "s-other.json": old, "notes.txt": old, // not ours to delete
	} {
		path := filepath.Join(d.dir, name)
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, modified, modified)); err != nil {
			t.Fatal(err)
		}
	}
	mustSave(t, d, testSaved())
	wantFiles(t, d, ".hidden1", ".s-echo.json", ".s-echo.json45", "notes.txt", "s-echo.json", "s-echo.json.lock", "s-other.json")
}
