// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package outlier

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

const (
	second = int64(time.Second)
	ms     = int64(time.Millisecond)
)

func fleetOf(cfg Config, n int) (*Detector, []*Record) {
	d := New(cfg)
	hosts := make([]*Record, n)
	for i := range hosts {
		hosts[i] = d.NewRecord()
	}
	return d, hosts
}

// only is the defaults with the other causes off.
func only(cause Cause) Config {
	cfg := Defaults()
	if cause != CauseConsecutive {
		cfg.ConsecutiveFailures = 0
	}
	if cause != CauseSuccessRate {
		cfg.SuccessRate.StdevFactor = 0
	}
	if cause != CauseFailureShare {
		cfg.FailureShare.Threshold = 0
	}
	if cause != CauseLatency {
		cfg.Latency.Factor = 0
	}
	return cfg
}

// load is what happens at a host within an interval: calls, of which some fail,
// spread evenly, and what each takes.
type load struct {
	calls, fail int
	took        int64
}

func (l load) on(r *Record, now int64) {
	for i := range l.calls {
		failed := (i+1)*l.fail/l.calls > i*l.fail/l.calls
		r.Call(now, l.took, failed)
	}
}

// ejected returns what a sweep ejected, as "index cause".
func ejected(changes []Change) []string {
	var all []string
	for _, c := range changes {
		if !c.Returned {
			all = append(all, fmt.Sprint(c.Index, " ", c.Ejection.Cause))
		}
	}
	return all
}

func TestWhoIsEjected(t *testing.T) {
	good := load{100, 0, 5 * ms}
	for name, c := range map[string]struct {
		cause Cause // "" for all
		hosts []load
		want  []string
	}{
		"none has calls":                    {"", make([]load, 5), nil},
		"all alike":                         {"", []load{good, good, good, good, good}, nil},
		"all fail":                          {"", slices.Repeat([]load{{100, 100, ms}}, 5), nil},
		"all fail by half":                  {"", slices.Repeat([]load{{100, 50, ms}}, 5), nil},
		"one fails":                         {"", []load{good, {100, 100, ms}, good}, []string{"1 consecutive_failures"}},
		"one of two fails":                  {"", []load{good, {100, 100, ms}}, []string{"1 consecutive_failures"}},
		"a single one fails":                {"", []load{{100, 100, ms}}, nil},
		"by share: it fails":                {CauseFailureShare, []load{good, {100, 90, ms}, good}, []string{"1 failure_share"}},
		"by share: below the threshold":     {CauseFailureShare, []load{good, {100, 84, ms}, good}, nil},
		"by share: too few calls":           {CauseFailureShare, []load{good, {19, 19, ms}, good}, nil},
		"by share: too few hosts":           {CauseFailureShare, []load{{10, 0, ms}, {100, 90, ms}}, nil},
		"by rate: half fails of three":      {"", []load{good, good, {100, 50, 5 * ms}}, []string{"2 success_rate"}},
		"by rate: half fails of four":       {"", []load{good, good, {100, 50, 5 * ms}, good}, []string{"2 success_rate"}},
		"by rate: two do not hide":          {"", []load{{100, 50, ms}, good, {100, 60, ms}, good, good}, []string{"2 success_rate", "0 success_rate"}},
		"by rate: half of the hosts":        {"", []load{{100, 50, ms}, good, {100, 60, ms}, good}, []string{"2 success_rate", "0 success_rate"}},
		"by rate: one failure":              {"", []load{good, good, {100, 1, ms}, good, good}, nil},
		"by rate: within chance":            {"", []load{{20, 1, ms}, {20, 1, ms}, {20, 4, ms}, {20, 1, ms}}, nil},
		"by rate: certain, but hardly less": {"", []load{{10_000, 0, ms}, {10_000, 500, ms}, {10_000, 0, ms}}, nil},
		"by rate: hosts differ anyway":      {"", []load{{500, 0, ms}, {500, 100, ms}, {500, 175, ms}, {500, 25, ms}, {500, 50, ms}}, nil},
		"by latency: ten times":             {"", []load{good, good, {100, 0, 50 * ms}}, []string{"2 latency"}},
		"by latency: half of the hosts":     {"", []load{good, {100, 0, 50 * ms}, {100, 0, 60 * ms}, good}, []string{"2 latency", "1 latency"}},
		"by latency: of two":                {"", []load{good, {100, 0, 50 * ms}}, nil},
		"by latency: hardly milliseconds":   {"", []load{{100, 0, ms / 5}, {100, 0, ms / 5}, {100, 0, 4 * ms}}, nil},
		"by latency: twice":                 {"", []load{{100, 0, 50 * ms}, {100, 0, 50 * ms}, {100, 0, 100 * ms}}, nil},
		"by latency: too few calls":         {"", []load{good, good, {19, 0, 50 * ms}}, nil},
		"worst first, as many as may be":    {"", []load{good, good, {100, 0, 50 * ms}, {100, 50, ms}, {100, 100, ms}}, []string{"4 consecutive_failures", "3 success_rate"}},
	} {
		cfg := Defaults()
		if c.cause != "" {
			cfg = only(c.cause)
		}
		d, hosts := fleetOf(cfg, len(c.hosts))
		for i, l := range c.hosts {
			l.on(hosts[i], second)
		}
		changes, _ := d.Sweep(second, hosts)
		if got := ejected(changes); !slices.Equal(got, c.want) {
			t.Errorf("%s: ejected %q, want %q", name, got, c.want)
		}
	}
}

// TestOneStallEjectsNobody, though it makes the mean ten times the peers'.
func TestOneStallEjectsNobody(t *testing.T) {
	d, hosts := fleetOf(Defaults(), 3)
	for _, r := range hosts {
		load{20, 0, 2 * ms}.on(r, second)
	}
	hosts[1].Call(second, 1000*ms, false)
	if changes, _ := d.Sweep(second, hosts); len(changes) > 0 {
		t.Errorf("%+v", changes)
	}
}

// TestHostsWithFewCallsAreJudgedLater: over ten intervals.
func TestHostsWithFewCallsAreJudgedLater(t *testing.T) {
	d, hosts := fleetOf(only(CauseSuccessRate), 3)
	for i := int64(1); i <= 10; i++ {
		for h, r := range hosts {
			load{3, h % 2 * 2, ms}.on(r, i*second) // two of three fail at the second
		}
		changes, _ := d.Sweep(i*second, hosts)
		if len(changes) > 0 {
			if i < 7 { // 20 calls
				t.Errorf("after %d s: %+v", i, changes)
			}
			return
		}
	}
	t.Error("never ejected")
}

// TestOldCallsAreForgotten: what is more than ten intervals ago.
func TestOldCallsAreForgotten(t *testing.T) {
	d, hosts := fleetOf(only(CauseFailureShare), 2)
	load{19, 19, ms}.on(hosts[0], 1)
	for i := range int64(15) {
		load{100, 0, ms}.on(hosts[1], i*second)
		d.Sweep(i*second, hosts)
	}
	hosts[0].Call(15*second, ms, true) // the 20th, if those were not forgotten
	load{100, 0, ms}.on(hosts[1], 15*second)
	if changes, _ := d.Sweep(15*second, hosts); len(changes) > 0 {
		t.Errorf("%+v", changes)
	}
}
