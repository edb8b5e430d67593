// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

const saveVar = "FAIRWAY_DISK_SAVE"

// saverProcess is a second process of this test binary that runs
// TestHelperSave.
type saverProcess struct {
	cmd   *exec.Cmd
	stdin io.Closer
	out   *bufio.Scanner
}

func startSaver(t *testing.T, dir string) *saverProcess {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestHelperSave$")
	cmd.Env = append(os.Environ(), saveVar+"="+dir)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	return &saverProcess{cmd: cmd, stdin: stdin, out: bufio.NewScanner(stdout)}
}

// line returns the rest of the next line that begins so.
func (p *saverProcess) line(t *testing.T, prefix string) string {
	t.Helper()
	for p.out.Scan() {
		if rest, ok := strings.CutPrefix(p.out.Text(), prefix); ok {
			return rest
		}
	}
	t.Fatalf("the process ended without %q", prefix)
	return ""
}

// TestHelperSave does nothing, except in the processes that the tests below
// start: there it saves ever newer states until standard input ends.
func TestHelperSave(t *testing.T) {
	dir := os.Getenv(saveVar)
	if dir == "" {
		return
	}
	d, err := newDiskCopy(dir, "c1", "fairway")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	var last time.Time
	for n := 1; ctx.Err() == nil; n++ {
		s := growing(n)
		err := d.save(s)
		for errors.Is(err, errLockHeld) { // as the saver does
			err = d.save(s)
		}
		if err != nil {
			t.Fatal(err)
		}
		if last = s.ProvedAt; n == 1 {
			fmt.Println("SAVING")
		}
		pause(ctx, 5*time.Millisecond, nil) // the others are to have a turn
	}
	fmt.Println("LAST " + last.UTC().Format(time.RFC3339Nano))
}

// growing is a state with more instances each time, up to some ten kilobytes,
// proved now.
func growing(n int) *savedService {
	s := &savedService{Service: "echo", Prefix: "fairway", Revision: int64(n), ProvedAt: time.Now(), SavedAt: time.Now()}
	for i := range min(10*n, 200) {
		address := fmt.Sprintf("10.0.%d.%d:%d", i/250, i%250, os.Getpid())
		s.Records = append(s.Records, savedRecord{
			Key: "fairway/echo/" + address, ModRevision: int64(i + 1),
			Value: json.RawMessage(fmt.Sprintf(`{"network":"tcp","address":%q,"tags":{"padding":%q}}`, address, strings.Repeat("x", 100))),
		})
	}
	return s
}

// reader loads for ever, and sees to it that each copy is good and none is
// older than the one before.
type reader struct {
	d     *diskCopy
	last  time.Time
	loads int
}

func (r *reader) load(t *testing.T) {
	t.Helper()
	s, err := r.d.load("echo")
	if errors.Is(err, fs.ErrNotExist) && r.loads == 0 {
		return
	}
	if err != nil {
		t.Fatalf("load %d: %v", r.loads, err)
	}
	if s.ProvedAt.Before(r.last) {
		t.Fatalf("load %d: the proof went back from %v to %v", r.loads, r.last, s.ProvedAt)
	}
	r.last = s.ProvedAt
	r.loads++
}

func TestEightProcessesShareAFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files cannot be replaced atomically")
	}
	dir := t.TempDir()
	d, err := newDiskCopy(dir, "c1", "fairway")
	if err != nil {
		t.Fatal(err)
	}
	var all []*saverProcess
	for range 8 {
		all = append(all, startSaver(t, dir))
	}
	for _, p := range all {
		p.line(t, "SAVING")
	}
	r := &reader{d: d}
	victim := time.Now().Add(time.Second)
	for end := victim.Add(time.Second); time.Now().Before(end); r.load(t) {
		if !victim.IsZero() && time.Now().After(victim) {
			_ = all[0].cmd.Process.Kill()
			victim = time.Time{}
		}
	}
	for _, p := range all[1:] {
		_ = p.stdin.Close()
	}
	for _, p := range all[1:] {
		last, err := time.Parse(time.RFC3339Nano, p.line(t, "LAST "))
		if err != nil {
			t.Fatal(err)
		}
		if s := mustLoad(t, d); s.ProvedAt.Before(last) {
			t.Errorf("the file was proved at %v, a process has saved a proof of %v", s.ProvedAt, last)
		}
		if err := p.cmd.Wait(); err != nil {
			t.Errorf("a process that was not killed: %v", err)
		}
	}
	if r.load(t); r.loads < 20 {
		t.Errorf("only %d loads", r.loads)
	}
}

func TestProcessKilledWhileWriting(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files cannot be replaced atomically")
	}
	dir := t.TempDir()
	d, err := newDiskCopy(dir, "c1", "fairway")
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{d: d}
	const kills = 8
	for range kills {
		p := startSaver(t, dir)
		p.line(t, "SAVING")
		before := len(temporaries(t, d))
		waitFor(t, "it is writing", func() bool {
			r.load(t)
			return len(temporaries(t, d)) > before
		})
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		r.load(t)
	}
	left := temporaries(t, d)
	t.Logf("%d of %d kills left a temporary file", len(left), kills)
	if len(left) > kills {
		t.Errorf("they pile up: %v", left)
	}
	old := time.Now().Add(-2 * staleAfter)
	for _, name := range left {
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
	}
	mustSave(t, d, growing(1)) // the lock has died with its holder
	wantFiles(t, d, "s-echo.json", "s-echo.json.lock")
}

func temporaries(t *testing.T, d *diskCopy) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(d.dir, ".s-*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}
