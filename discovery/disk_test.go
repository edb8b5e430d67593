// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func testSaved() *savedService {
	return &savedService{
		Service: "echo", Prefix: "fairway", ClusterID: 0xcdf818194e3a8c32, Revision: 42,
		ProvedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), SavedAt: time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC),
		Records: []savedRecord{{Key: "fairway/echo/a:1", ModRevision: 40, Value: json.RawMessage(`{"address":"a:1","tags":{"k":"<&>"}}`)}},
	}
}

func testDisk(t *testing.T, cluster, prefix string) *diskCopy {
	t.Helper()
	d, err := newDiskCopy(t.TempDir(), cluster, prefix)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDiskCopyComesBackAsItWas(t *testing.T) {
	d := testDisk(t, "c1", "fairway")
	want := testSaved()
	if err := d.save(want); err != nil {
		t.Fatal(err)
	}
	got, err := d.load("echo")
	if err != nil {
		t.Fatal(err)
	}
	if got.ClusterID != want.ClusterID || got.Revision != 42 || !got.ProvedAt.Equal(want.ProvedAt) || len(got.Records) != 1 {
		t.Errorf("got %+v", got)
	}
	if _, err := decodeRecord(got.Records[0].Value); err != nil {
		t.Error(err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	info, err := os.Stat(d.file("echo"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode())
	}
}

func TestReindentedDiskCopyIsStillGood(t *testing.T) {
	d := testDisk(t, "c1", "fairway")
	if err := d.save(testSaved()); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(d.file("echo"))
	if err != nil {
		t.Fatal(err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, content, "", "\t"); err != nil {
		t.Fatal(err)
	}
	if _, err := parseSaved(indented.Bytes()); err != nil {
		t.Error(err)
	}
}

// TestDamagedDiskCopyIsRefused changes, cuts and extends a good file.
func TestDamagedDiskCopyIsRefused(t *testing.T) {
	d := testDisk(t, "c1", "fairway")
	if err := d.save(testSaved()); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(d.file("echo"))
	if err != nil {
		t.Fatal(err)
	}
	refused := func(what string, content []byte) {
		if _, err := parseSaved(content); !errors.Is(err, ErrInvalidSnapshot) {
			t.Errorf("%s: got %v, want ErrInvalidSnapshot", what, err)
		}
	}
	for _, cut := range []int{0, 1, len(good) / 2, len(good) - 3} {
		refused("cut", good[:cut])
	}
	refused("changed revision", bytes.Replace(good, []byte(`42`), []byte(`43`), 1))
	refused("newer format", bytes.Replace(good, []byte(`"format": 1`), []byte(`"format": 2`), 1))
	refused("binary", []byte{0, 1, 2, 3})
	refused("other JSON", []byte(`{"a":1}`))
	refused("null", []byte(`null`))
}

func TestForeignDiskCopyIsRefused(t *testing.T) {
	ours := testDisk(t, "c1", "fairway")
	theirs := testDisk(t, "c2", "fairway")
	if err := theirs.save(testSaved()); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(theirs.file("echo"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ours.file("echo"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ours.load("echo"); !errors.Is(err, ErrInvalidSnapshot) {
		t.Errorf("got %v, want ErrInvalidSnapshot", err)
	}
	if _, err := ours.load("absent"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
}

func TestFileNamesAreSafeAndDistinct(t *testing.T) {
	for name, want := range map[string]string{
		"s-echo": "s-echo", "s-Echo": "s-%45cho", "s-a:b@c": "s-a%3ab%40c", "s-..": "s-.%2e", "p-kitex/registry-etcd": "p-kitex%2fregistry-etcd",
	} {
		if got := fileName(name); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := "s-"+rapid.String().Draw(t, "a"), "s-"+rapid.String().Draw(t, "b")
		fa, fb := fileName(a), fileName(b)
		if a != b && strings.EqualFold(fa, fb) {
			t.Fatalf("%q and %q both become %q", a, b, fa)
		}
		if filepath.Base(fa) != fa || len(fa) > 230 {
			t.Fatalf("%q becomes the path %q", a, fa)
		}
	})
}

func TestFailedSaveLeavesTheOldFile(t *testing.T) {
	d := testDisk(t, "c1", "fairway")
	if err := d.save(testSaved()); err != nil {
		t.Fatal(err)
	}
	broken := *d
	broken.dir = filepath.Join(d.file("echo"), "a file is no folder")
	if err := broken.save(testSaved()); err == nil {
		t.Fatal("a save into a file as folder succeeded")
	}
	got, err := d.load("echo")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(int64(42), got.Revision); diff != "" {
		t.Error(diff)
	}
	left, err := os.ReadDir(d.dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 1 {
		t.Errorf("%d files in the folder, want 1: no temporary one left behind", len(left))
	}
}
