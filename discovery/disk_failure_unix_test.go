// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !windows

package discovery

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
)

const limitVar, readOnlyVar = "FAIRWAY_DISK_FULL", "FAIRWAY_DISK_READONLY"

// runHelper runs one test of this binary in a process of its own, since it
// changes what the process may do, and fails if that does.
func runHelper(t *testing.T, test, variable, dir string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+test+"$", "-test.v")
	cmd.Env = append(os.Environ(), variable+"="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestFullDiskKeepsTheOldCopyUntilThereIsRoom(t *testing.T) {
	runHelper(t, "TestHelperFullDisk", limitVar, t.TempDir())
}

// TestHelperFullDisk has a limit on the size of files stand for a full disk.
func TestHelperFullDisk(t *testing.T) {
	dir := os.Getenv(limitVar)
	if dir == "" {
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	d, err := newDiskCopy(dir, "c1", "fairway")
	if err != nil {
		t.Fatal(err)
	}
	mustSave(t, d, provedAgo(0, 1))
	unlimited := limitFiles(t, 4096)
	if err := d.save(growing(20)); !errors.Is(err, syscall.EFBIG) {
		t.Errorf("a save over the limit: %v", err)
	}
	if got := mustLoad(t, d).Revision; got != 1 {
		t.Errorf("the disk holds %d, want the old copy", got)
	}
	wantFiles(t, d, "s-echo.json", "s-echo.json.lock")
	unlimited()
	mustSave(t, d, growing(20))
	if got := mustLoad(t, d).Revision; got != 20 {
		t.Errorf("the disk holds %d, want the new copy", got)
	}
}

// limitFiles limits the size of files that this process writes.
func limitFiles(t *testing.T, size uint64) (undo func()) {
	t.Helper()
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	limited := before
	limited.Cur = size
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limited); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
			t.Fatal(err)
		}
	}
}

func TestReadOnlyFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o711); err != nil { // for a process without root's rights
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	runHelper(t, "TestHelperReadOnlyFolder", readOnlyVar, dir)
}

// TestHelperReadOnlyFolder gives up the rights of root, whom no permission
// holds back.
func TestHelperReadOnlyFolder(t *testing.T) {
	dir := os.Getenv(readOnlyVar)
	if dir == "" {
		return
	}
	const nobody = 65534
	if os.Getuid() == 0 {
		if err := errors.Join(syscall.Setgid(nobody), syscall.Setuid(nobody)); err != nil {
			t.Fatal(err)
		}
	}
	d, err := newDiskCopy(dir, "c1", "fairway")
	if err != nil {
		t.Fatal(err)
	}
	mustSave(t, d, provedAgo(0, 1))
	chmod(t, d.dir, 0o500)
	if err := d.save(growing(2)); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a save into a read-only folder: %v", err)
	}
	if got := mustLoad(t, d).Revision; got != 1 {
		t.Errorf("the disk holds %d, want the old copy", got)
	}
	if err := d.save(&savedService{Service: "new", Prefix: "fairway", ProvedAt: testSaved().ProvedAt}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a new file in a read-only folder: %v", err)
	}
	chmod(t, d.dir, 0o700)
	mustSave(t, d, growing(3))
	wantFiles(t, d, "s-echo.json", "s-echo.json.lock")
}

func chmod(t *testing.T, name string, mode fs.FileMode) {
	t.Helper()
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
}
