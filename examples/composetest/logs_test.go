// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const consumerLog = `{"level":"warn","ts":"2026-12-01T02:49:54Z","msg":"retrying of unary invoker failed","error":"a=b c=d"}
time=2026-12-01T02:49:50.000Z level=INFO msg="calling echo" service=echo
time=2026-12-01T02:49:55.000Z level=INFO msg=distribution policy=weighted-random calls=1000 failed=0 total_calls=1000 total_failed=0 state=live source=etcd age=1.2s
time=2026-12-01T02:49:55.000Z level=INFO msg=instance address=10.0.0.3:8888 weight=5 calls=600 share=0.600 expected=0.625
time=2026-12-01T02:49:55.000Z level=INFO msg=instance address=10.0.0.4:8888 weight=3 calls=400 share=0.400 expected=0.375
time=2026-12-01T02:50:00.000Z level=INFO msg=distribution policy=weighted-random calls=900 failed=1 total_calls=1900 total_failed=1 state=stale source=disk age=6.2s
time=2026-12-01T02:50:00.000Z level=INFO msg=instance address=10.0.0.3:8888 weight=5 calls=500 share=0.556 expected=0.625
`

func TestParseReports(t *testing.T) {
	got, err := parseReports(consumerLog)
	if err != nil {
		t.Fatal(err)
	}
	want := []report{
		{
			policy: "weighted-random", calls: 1000, totalCalls: 1000, state: "live", source: "etcd",
			instances: []instance{{"10.0.0.3:8888", 5, 600}, {"10.0.0.4:8888", 3, 400}},
		},
		{
			policy: "weighted-random", calls: 900, failed: 1, totalCalls: 1900, totalFailed: 1, state: "stale", source: "disk",
			instances: []instance{{"10.0.0.3:8888", 5, 500}},
		},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(report{}, instance{})); diff != "" {
		t.Error(diff)
	}
	if !got[0].whole() || got[1].whole() {
		t.Errorf("whole: %t and %t, want the first only", got[0].whole(), got[1].whole())
	}
}

func TestParseReportsRefusesBrokenNumber(t *testing.T) {
	_, err := parseReports(strings.Replace(consumerLog, "calls=600", "calls=many", 1))
	if err == nil || !strings.Contains(err.Error(), "field calls") {
		t.Errorf("err = %v, want one that names the field", err)
	}
}

func TestParseLine(t *testing.T) {
	for line, want := range map[string]map[string]string{
		"":                       {},
		"a=1  b=2\r\n":           {"a": "1", "b": "2"},
		`msg="two words" e="\""`: {"msg": "two words", "e": `"`},
		"x= y=1":                 {"x": "", "y": "1"},
		`{"json":"a=b"}`:         {},
		"plain text a=b":         {},
		`a="unclosed b=1`:        {"a": `"unclosed`, "b": "1"},
	} {
		if diff := cmp.Diff(want, parseLine(line)); diff != "" {
			t.Errorf("%q: %s", line, diff)
		}
	}
}

func TestTally(t *testing.T) {
	reports, err := parseReports(consumerLog)
	if err != nil {
		t.Fatal(err)
	}
	calls, n := tally(reports)
	if diff := cmp.Diff(map[string]int{"10.0.0.3:8888": 1100, "10.0.0.4:8888": 400}, calls); diff != "" || n != 1500 {
		t.Errorf("%d calls, %s", n, diff)
	}
	if got, want := describe(calls), "1500 calls, 10.0.0.3:8888 0.733, 10.0.0.4:8888 0.267"; got != want {
		t.Errorf("describe = %q, want %q", got, want)
	}
}

func TestParseTotals(t *testing.T) {
	if _, _, found := parseTotals(consumerLog); found {
		t.Error("found in a log without totals")
	}
	calls, failed, found := parseTotals(consumerLog + "time=2026-12-01T02:50:01.000Z level=INFO msg=totals policy=weighted-random calls=1950 failed=1\n")
	if calls != 1950 || failed != 1 || !found {
		t.Errorf("%d calls, %d failed, found %t", calls, failed, found)
	}
}
