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
	if _, err := d.decode(indented.Bytes(), "echo"); err != nil {
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
		if _, err := d.decode(content, "echo"); !errors.Is(err, ErrInvalidSnapshot) {
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
	broken := &diskCopy{dir: filepath.Join(d.file("echo"), "a file is no folder"), cluster: d.cluster, prefix: d.prefix}
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
	wantFiles(t, d, "s-echo.json", "s-echo.json.lock")
}

// wantFiles fails if the folder holds anything else.
func wantFiles(t *testing.T, d *diskCopy, want ...string) {
	t.Helper()
	found, err := os.ReadDir(d.dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found {
		got = append(got, f.Name())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files in the folder (-want +got):\n%s", diff)
	}
}

// mustSave and mustLoad work on the service echo.
func mustSave(t *testing.T, d *diskCopy, s *savedService) {
	t.Helper()
	if err := d.save(s); err != nil {
		t.Fatal(err)
	}
}

func mustLoad(t *testing.T, d *diskCopy) *savedService {
	t.Helper()
	s, err := d.load("echo")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSuspectsAndRulesComeBackAsTheyWere(t *testing.T) {
	d := testDisk(t, "c1", "fairway")
	want := testSaved()
	vanished := time.Date(2026, 1, 2, 3, 4, 4, 5, time.UTC)
	want.Suspects = []savedSuspect{{savedRecord{"fairway/echo/b:1", 39, json.RawMessage(`{"address":"b:1"}`)}, vanished}}
	want.Rules = []savedRecord{{"fairway/_rules/echo/*", 7, json.RawMessage(`{"weight":0}`)}}
	mustSave(t, d, want)
	want.ClusterName = "c1"
	if diff := cmp.Diff(want, mustLoad(t, d), cmp.AllowUnexported(savedSuspect{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAbsentSuspectsAndRulesTakeNoSpace(t *testing.T) {
	d := testDisk(t, "c1", "fairway")
	mustSave(t, d, testSaved())
	content, err := os.ReadFile(d.file("echo"))
	if err != nil {
		t.Fatal(err)
	}
	for _, absent := range []string{"suspects", "rules", "null"} {
		if strings.Contains(string(content), absent) {
			t.Errorf("%s in %s", absent, content)
		}
	}
}

// TestCopyWithAnOddContentIsRefused when it is written, and when it was written
// by somebody else with a right checksum.
func TestCopyWithAnOddContentIsRefused(t *testing.T) {
	record := func(key string) savedRecord { return savedRecord{key, 1, json.RawMessage(`{}`)} }
	now := time.Now()
	for name, spoil := range map[string]func(s *savedService){
		"record of another service":   func(s *savedService) { s.Records[0].Key = "fairway/echo2/a:1" },
		"record without an address":   func(s *savedService) { s.Records[0].Key = "fairway/echo/" },
		"record without a value":      func(s *savedService) { s.Records[0].Value = nil },
		"record without a revision":   func(s *savedService) { s.Records[0].ModRevision = 0 },
		"record that is there twice":  func(s *savedService) { s.Records = append(s.Records, s.Records[0]) },
		"suspect of another prefix":   func(s *savedService) { s.Suspects = []savedSuspect{{record("kitex/echo/a:1"), now}} },
		"suspect that never vanished": func(s *savedService) { s.Suspects = []savedSuspect{{record("fairway/echo/a:1"), time.Time{}}} },
		"rule of another service":     func(s *savedService) { s.Rules = []savedRecord{record("fairway/_rules/echo2/*")} },
		"rule among the instances":    func(s *savedService) { s.Rules = []savedRecord{record("fairway/echo/a:1")} },
		"no time of proof":            func(s *savedService) { s.ProvedAt = time.Time{} },
		"another prefix":              func(s *savedService) { s.Prefix = "other" },
	} {
		t.Run(name, func(t *testing.T) {
			d := testDisk(t, "c1", "fairway")
			s := testSaved()
			spoil(s)
			if err := d.save(s); !errors.Is(err, ErrInvalidSnapshot) {
				t.Errorf("save: %v, want ErrInvalidSnapshot", err)
			}
			s.ClusterName = "c1"
			if _, err := d.decode(signed(t, s), "echo"); !errors.Is(err, ErrInvalidSnapshot) {
				t.Errorf("load: %v, want ErrInvalidSnapshot", err)
			}
		})
	}
}

// signed is a file with a right checksum, whatever it says.
func signed(t *testing.T, s *savedService) []byte {
	t.Helper()
	body, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := json.Marshal(savedFile{Format: diskFormat, Checksum: checksum(body), Body: body})
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

// TestExampleInTheDocumentIsGood, so that the document describes this format.
func TestExampleInTheDocumentIsGood(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "disk-copy.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```json\n")
	example, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("there is no example in it")
	}
	d := &diskCopy{cluster: "production", prefix: "fairway"}
	s, err := d.decode([]byte(example), "echo")
	if err != nil {
		t.Fatal(err)
	}
	again, err := d.encode(s)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(example, string(again)); diff != "" {
		t.Errorf("the document and what is written (-document +written):\n%s", diff)
	}
}
