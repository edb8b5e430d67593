// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairway-rpc/fairway/examples/internal/report"
	"github.com/fairway-rpc/fairway/examples/internal/table"
	"github.com/fairway-rpc/fairway/loadbalance"
)

// buffer is written by the demo and read by the test.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func plain() (*console, *buffer) {
	out := &buffer{}
	return &console{out: out, style: func() table.Style { return table.Style{} }}, out
}

// temp puts the temporary files of this test, the demo's included, into a
// folder of its own.
func temp(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, variable := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(variable, dir)
	}
	return dir
}

func left(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestEachPolicy(t *testing.T) {
	for _, policy := range loadbalance.Policies() {
		t.Run(policy, func(t *testing.T) {
			dir := temp(t)
			out, text := plain()
			cfg := Config{Policy: policy, For: 2 * time.Second, QPS: 2000, Callers: 16}
			r, err := run(t.Context(), cfg, out, nil)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			checkReport(t, cfg, *r)
			if names := left(t, dir); len(names) > 0 {
				t.Errorf("left behind: %v", names)
			}
		})
	}
}

func checkReport(t *testing.T, cfg Config, r report.Report) {
	t.Helper()
	if r.Policy != cfg.Policy || r.Failed != 0 {
		t.Errorf("policy %q, %d failed calls", r.Policy, r.Failed)
	}
	sum, share := uint64(0), 0.0
	for i, instance := range r.Instances {
		sum += instance.Calls
		share += instance.Share
		if instance.Weight != weights[i] || instance.Calls == 0 {
			t.Errorf("instance %d has the weight %d and %d calls", i, instance.Weight, instance.Calls)
		}
		exact := cfg.Policy == loadbalance.SmoothWRR || cfg.Policy == loadbalance.WeightedRandom
		// Five standard deviations of an even share under weighted-random.
		tolerance := 5 * math.Sqrt(0.25/float64(r.Calls))
		if off := math.Abs(instance.Share - instance.ExpectedShare); exact && off > tolerance {
			t.Errorf("instance %d has the share %.4f, want %.4f within %.4f", i, instance.Share, instance.ExpectedShare, tolerance)
		}
	}
	if len(r.Instances) != len(weights) || sum != r.Calls || math.Abs(share-1) > 1e-9 {
		t.Errorf("the instances have %d of %d calls, their shares sum to %f", sum, r.Calls, share)
	}
	if r.Calls < 1000 {
		t.Errorf("%d calls in two seconds", r.Calls)
	}
}

// TestKeys does what the demo proposes to try.
func TestKeys(t *testing.T) {
	temp(t)
	out, text := plain()
	keys, typing := io.Pipe()
	defer typing.Close()
	type result struct {
		report *report.Report
		err    error
	}
	ended := make(chan result, 1)
	go func() {
		r, err := run(t.Context(), Config{Policy: loadbalance.SmoothWRR, QPS: 500, Callers: 8}, out, keys)
		ended <- result{r, err}
	}()
	for _, step := range []struct{ line, then string }{
		{"k 1", "Provider 1 has stopped"},
		{"k 1", "not possible now: it is stopped"},
		{"e", "etcd has stopped"},
		{"E", "etcd serves again"},
		{"r1", "Provider 1 has started"},
		{"x", `"x" is not understood`},
		{"k 4", "k needs the number of a provider"},
		{"q", "In all:"},
	} {
		if _, err := io.WriteString(typing, step.line+"\n"); err != nil {
			t.Fatal(err)
		}
		eventually(t, text, step.then)
	}
	r := <-ended
	if r.err != nil {
		t.Fatalf("%v\n%s", r.err, text)
	}
}

func eventually(t *testing.T, text *buffer, want string) {
	t.Helper()
	deadline := time.NewTimer(30 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !strings.Contains(text.String(), want) {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("not within 30 s: %q\n%s", want, text)
		}
	}
}

func TestInterruptedBeforeItBegins(t *testing.T) {
	dir := temp(t)
	out, _ := plain()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := run(ctx, Config{Policy: loadbalance.SmoothWRR, QPS: 100, Callers: 1}, out, nil)
	if r != nil || !errors.Is(err, errInterrupted) {
		t.Errorf("got %v, %v; want errInterrupted", r, err)
	}
	if names := left(t, dir); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
}

// TestMainWithJSON looks at what another program sees.
func TestMainWithJSON(t *testing.T) {
	temp(t)
	status, stdout, stderr := call(t, "-for", "1s", "-qps", "1000", "-json", "-spans")
	if status != exitOK {
		t.Fatalf("status %d\n%s", status, stderr)
	}
	lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
	var r report.Report
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil || r.Calls == 0 || r.Failed != 0 {
		t.Errorf("got %+v, %v from the last line of %q", r, err, stdout)
	}
	for _, want := range []string{"span fairway.pick", "policy=smooth-wrr", "candidates=3", "instance", "In all:"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("%q is not in\n%s", want, stderr)
		}
	}
	if strings.Contains(stderr, "\x1b") {
		t.Errorf("control characters for what is no terminal:\n%s", stderr)
	}
}

func TestBadArguments(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-policy", "nope"}, strings.Join(loadbalance.Policies(), ", ")},
		{[]string{"-qps", "0"}, "-qps 0"},
		{[]string{"-callers", "0"}, "-callers 0"},
		{[]string{"-for", "-1s"}, "-for -1s"},
		{[]string{"-for", "soon"}, "soon"},
		{[]string{"-spans=some"}, "neither all nor a number"},
		{[]string{"10s"}, `unexpected argument "10s"`},
	} {
		status, stdout, stderr := call(t, tt.args...)
		if status != exitUsage || stdout != "" || !strings.Contains(stderr, tt.want) {
			t.Errorf("%v: status %d, %q, %q; want %d and %q", tt.args, status, stdout, stderr, exitUsage, tt.want)
		}
	}
	status, _, stderr := call(t, "-h")
	if status != exitOK || !strings.Contains(stderr, "-policy") {
		t.Errorf("-h: status %d, %q", status, stderr)
	}
}

func call(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	files := make([]*os.File, 3)
	for i := range files {
		f, err := os.Create(filepath.Join(t.TempDir(), "stream"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		files[i] = f
	}
	status = Main(args, files[0], files[1], files[2])
	texts := make([]string, 0, len(files))
	for _, f := range files {
		text, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	return status, texts[1], texts[2]
}

func TestWindowBeginsAnewWithTheInstances(t *testing.T) {
	s := &session{}
	count := func(n int) {
		for range n {
			s.counts.Do(context.Background(), func(context.Context) error { return nil })
		}
	}
	var w window
	began := time.Now()
	for i := range 20 {
		count(10)
		part, span := w.add(began.Add(time.Duration(i)*time.Second), s.counts.Read(), "a")
		if want := min(i, 5); span != time.Duration(want)*time.Second || part.Calls != uint64(10*want) {
			t.Errorf("after %d s: %d calls in %v", i, part.Calls, span)
		}
	}
	count(10)
	part, span := w.add(began.Add(20*time.Second), s.counts.Read(), "b")
	if span != time.Second || part.Calls != 10 {
		t.Errorf("after a change: %d calls in %v, want 10 in 1 s", part.Calls, span)
	}
}

func TestSpansFlag(t *testing.T) {
	for value, want := range map[string]Spans{
		"true":  {On: true, PerSecond: defaultSpanRate},
		"false": {},
		"all":   {On: true},
		"20":    {On: true, PerSecond: 20},
	} {
		var s Spans
		if err := s.Set(value); err != nil || s != want {
			t.Errorf("%s: got %+v, %v; want %+v", value, s, err, want)
		}
	}
	for _, value := range []string{"", "0", "-1", "1.5", "many"} {
		var s Spans
		if err := s.Set(value); err == nil {
			t.Errorf("%q is taken as %+v", value, s)
		}
	}
}

func TestCommands(t *testing.T) {
	for line, want := range map[string]command{
		"k 1": {keyStop, 1}, "k1": {keyStop, 1}, " R  3 ": {keyStart, 3}, "e": {key: keyEtcd}, "Q": {key: keyQuit}, "": {},
	} {
		if got, err := parseCommand(line, 3); err != nil || got != want {
			t.Errorf("%q: got %v, %v; want %v", line, got, err, want)
		}
	}
	lines := []string{"k", "k 0", "k 4", "k one", "e 1", "quit", "é", "?"}
	if i := slices.IndexFunc(lines, func(line string) bool {
		_, err := parseCommand(line, 3)
		return err == nil
	}); i >= 0 {
		t.Errorf("%q is understood", lines[i])
	}
}
