// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func sample() *Report {
	r := newReport()
	r.add(Step{Name: "steady", TookMS: 2512, count: count{Calls: 1008}, Finding: Finding{
		Shows:  "The calls follow the weights.",
		Shares: []Share{{Provider: 1, Address: "127.0.0.1:1", Weight: 5, Expected: 1, Share: 1, Calls: 1008}},
	}})
	r.add(Step{Name: "provider killed", TookMS: 5000, count: count{Calls: 2000, InFlight: 3}})
	r.TookMS = 7600
	return r
}

func TestLinesOfAStep(t *testing.T) {
	r := sample()
	want := []string{
		"The calls follow the weights.",
		"shares: provider 1 100.0 % (weight 5)",
		"1,008 calls, 0 failed, in 2.5 s",
	}
	if diff := cmp.Diff(want, r.Steps[0].lines()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	want = []string{"2,000 calls, 0 failed (and 3 in flight at the killed provider), in 5.0 s"}
	if diff := cmp.Diff(want, r.Steps[1].lines()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestTable(t *testing.T) {
	want := `step                  calls  failed     took
steady                1,008       0    2.5 s
provider killed       2,000       0    5.0 s  and 3 in flight at the kill
in all                3,008       0    7.6 s  and 3 in flight at the kill`
	if diff := cmp.Diff(want, strings.Join(sample().table(), "\n")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestReportIsOneLineOfJSON(t *testing.T) {
	var b bytes.Buffer
	if err := sample().Write(&b); err != nil {
		t.Fatal(err)
	}
	want := `{"ttl_ms":5000,"steps":[` +
		`{"name":"steady","calls":1008,"failed":0,"took_ms":2512,` +
		`"shares":[{"provider":1,"address":"127.0.0.1:1","weight":5,"expected_share":1,"share":1,"calls":1008}],` +
		`"shows":"The calls follow the weights."},` +
		`{"name":"provider killed","calls":2000,"failed":0,"in_flight":3,"took_ms":5000}],` +
		`"took_ms":7600,"calls":3008,"failed":0,"in_flight":3}` + "\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestFailedCallsAreAnError(t *testing.T) {
	r := sample()
	if err := r.failed(nil); err != nil {
		t.Errorf("calls that were in flight count as failed: %v", err)
	}
	r.add(Step{Name: "etcd back", count: count{Calls: 5, Failed: 2}})
	err := r.failed([]string{"b", "a", "b"})
	want := `2 calls failed: 2 in step "etcd back": ["a" "b"]`
	if !errors.Is(err, ErrCallsFailed) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestBrief(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "less than 1 ms", 1600 * time.Microsecond: "2 ms", 99 * time.Millisecond: "99 ms",
		100 * time.Millisecond: "0.1 s", 12_340 * time.Millisecond: "12.3 s",
	} {
		if got := brief(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	for text, want := range map[string][]string{
		"":                 nil,
		"a bc de":          {"a bc", "de"},
		"longer than that": {"longer", "than", "that"},
	} {
		if diff := cmp.Diff(want, wrap(text, 4)); diff != "" {
			t.Errorf("%q: -want +got:\n%s", text, diff)
		}
	}
}
