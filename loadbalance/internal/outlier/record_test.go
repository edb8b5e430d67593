// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package outlier

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestOneCallerIsToldOfTheLimit, however many fail at the same moment.
func TestOneCallerIsToldOfTheLimit(t *testing.T) {
	r := New(Defaults()).NewRecord()
	var told atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 1000 {
				if r.Call(1, 1, true) {
					told.Add(1)
				}
			}
		})
	}
	all.Wait()
	if n := told.Load(); n != 1 {
		t.Errorf("%d callers were told", n)
	}
}

func TestASuccessEndsTheRow(t *testing.T) {
	r := New(Defaults()).NewRecord()
	told := 0
	for _, failed := range []bool{true, true, true, true, false, true, true, true, true, true, true, false, true} {
		if r.Call(1, 1, failed) {
			told++
		}
	}
	if told != 1 {
		t.Errorf("told %d times of one row of six", told)
	}
}

func TestNoLimitIsNeverReached(t *testing.T) {
	cfg := Defaults()
	cfg.ConsecutiveFailures = 0
	r := New(cfg).NewRecord()
	for range 1000 {
		if r.Call(1, 1, true) {
			t.Fatal("told of a limit that is off")
		}
	}
}

// TestCallsDuringASweep: nothing is counted twice or lost in the totals.
func TestCallsDuringASweep(t *testing.T) {
	cfg := Defaults()
	cfg.ConsecutiveFailures = 0
	d, hosts := fleetOf(cfg, 3)
	var all sync.WaitGroup
	for _, r := range hosts {
		all.Go(func() {
			for i := range 20_000 {
				r.Call(int64(i), int64(time.Millisecond), i%2 == 0)
			}
		})
	}
	for i := range int64(50) {
		if changes, _ := d.Sweep(i*second, hosts); len(changes) > 0 {
			t.Errorf("%+v of hosts that are alike", changes)
		}
	}
	all.Wait()
	for _, r := range hosts {
		if got := r.counters.totals(); got.failures != 10_000 || got.successes != 10_000 || got.took != 10_000*uint64(time.Millisecond) {
			t.Errorf("%+v of 20,000 calls", got)
		}
	}
}

func BenchmarkCall(b *testing.B) {
	for name, failed := range map[string]bool{"success": false, "failure": true} {
		b.Run(name, func(b *testing.B) {
			r := New(Defaults()).NewRecord()
			for i := int64(0); b.Loop(); i++ {
				r.Call(i, 500, failed)
			}
		})
	}
}

func BenchmarkSweep(b *testing.B) {
	for _, n := range []int{5, 100, 10_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			d, hosts := fleetOf(Defaults(), n)
			now := int64(0)
			for b.Loop() {
				now += second
				for i, r := range hosts {
					r.counters.successes.Add(20)
					r.counters.took.Add(uint64(20*ms) + uint64(i*7919%1000))
				}
				d.Sweep(now, hosts)
			}
		})
	}
}
