// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairway-rpc/fairway/examples/internal/cluster"
	"github.com/fairway-rpc/fairway/examples/internal/report"
	"github.com/fairway-rpc/fairway/examples/internal/story"
)

func TestMain(m *testing.M) {
	if status, ran := cluster.RunProcess(); ran {
		os.Exit(status)
	}
	os.Exit(m.Run())
}

// storyLasts is what the story may take, in milliseconds.
const storyLasts = 120_000

// TestStory tells the whole story, and looks at what another program sees.
func TestStory(t *testing.T) {
	dir := temp(t)
	status, stdout, stderr := call(t, "-story", "-json")
	if names := left(t, dir); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
	if status != exitOK {
		t.Fatalf("status %d\n%s", status, stderr)
	}
	var r story.Report
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatalf("%v: %s", err, stdout)
	}
	names := []string{}
	for _, s := range r.Steps {
		names = append(names, s.Name)
		checkStep(t, s)
	}
	want := []string{
		"steady", "weight change", "drain and undrain", "provider killed", "provider added",
		"etcd stopped", "consumer restarted", "etcd back", "etcd wiped",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Fatalf("-want +got:\n%s", diff)
	}
	if r.Failed != 0 || r.TookMS > storyLasts {
		t.Errorf("%d calls failed in %d ms", r.Failed, r.TookMS)
	}
	checkEvents(t, r.Steps, r.TTLMS)
	for _, want := range []string{"1/9 steady", "9/9 etcd wiped", "down for 10.0 s", "in all"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("%q is not in\n%s", want, stderr)
		}
	}
}

// checkStep looks at what holds for every step.
func checkStep(t *testing.T, s story.Step) {
	t.Helper()
	if s.Calls < 1000 || s.Failed != 0 || s.TookMS <= 0 || s.Shows == "" {
		t.Errorf("step %q: %+v", s.Name, s)
	}
	if s.InFlight > 0 && s.Name != "provider killed" {
		t.Errorf("step %q excuses %d calls", s.Name, s.InFlight)
	}
	sum := 0.0
	for _, share := range s.Shares {
		sum += share.Share
		if math.Abs(share.Share-share.Expected) > 0.02 {
			t.Errorf("step %q: provider %d has the share %.3f, want %.3f", s.Name, share.Provider, share.Share, share.Expected)
		}
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Errorf("step %q: the shares sum to %f", s.Name, sum)
	}
}

// checkEvents looks at what each step is about.
func checkEvents(t *testing.T, steps []story.Step, ttl int64) {
	t.Helper()
	weights := [][]int{{5, 3, 2}, {1, 3, 2}, {1, 3, 2}, {1, 3}, {1, 3, 4}, {1, 3, 4}, {1, 3, 4}, {1, 3, 4}, {1, 3, 4}}
	for i, s := range steps {
		got := []int{}
		for _, share := range s.Shares {
			got = append(got, share.Weight)
		}
		if diff := cmp.Diff(weights[i], got); diff != "" {
			t.Errorf("step %q has other weights: -want +got:\n%s", s.Name, diff)
		}
	}
	if drained := steps[2].DrainedCalls; drained == nil || *drained != 0 {
		t.Errorf("calls to a drained provider: %v", drained)
	}
	if forgotten := int64(steps[3].SeenMS); forgotten < ttl/2 {
		t.Errorf("the killed provider was forgotten after %d ms: that is no crash under a lease of %d ms", forgotten, ttl)
	}
	down, restarted := steps[5].AgeMS, steps[6].AgeMS
	if down < 2*ttl || restarted <= down {
		t.Errorf("the copy was %d ms old, and %d ms after the restart", down, restarted)
	}
	back, wiped := steps[7].Registry, steps[8].Registry
	if back == nil || back.Revision < back.Before {
		t.Errorf("etcd came back with its data: %+v", back)
	}
	if wiped == nil || wiped.Revision >= wiped.Before || wiped.Held != 3 || wiped.Returned != 3 {
		t.Errorf("etcd was wiped: %+v", wiped)
	}
}

func TestStoryGoesAlone(t *testing.T) {
	for _, flag := range []string{"-qps=10", "-policy=least-active", "-for=1s", "-spans", "-callers=3"} {
		status, _, stderr := call(t, "-story", flag)
		name, _, _ := strings.Cut(flag, "=")
		if status != exitUsage || !strings.Contains(stderr, name+" does not go with -story") {
			t.Errorf("%s: status %d, %q", flag, status, stderr)
		}
	}
}

func TestExitStatus(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if status := finish(report.Report{Policy: "p"}, nil, &stdout, &stderr); status != exitOK || stderr.Len() > 0 {
		t.Errorf("status %d, %q", status, stderr.String())
	}
	stdout.Reset()
	status := finish(report.Report{Policy: "p"}, story.ErrCallsFailed, &stdout, &stderr)
	if status != exitFailed || !strings.Contains(stdout.String(), `"policy":"p"`) || !strings.Contains(stderr.String(), "calls failed") {
		t.Errorf("status %d, %q, %q; want the report and the error", status, stdout.String(), stderr.String())
	}
	if status := finish(nil, errInterrupted, &stdout, &stderr); status != exitFailed {
		t.Errorf("status %d without a report", status)
	}
	if status := finish(report.Report{}, nil, full{}, &stderr); status != exitFailed || !strings.Contains(stderr.String(), errFull.Error()) {
		t.Errorf("status %d, %q; want that the report cannot be written", status, stderr.String())
	}
}

// full is an output that takes nothing.
type full struct{}

var errFull = errors.New("the disk is full")

func (full) Write([]byte) (int, error) { return 0, errFull }
