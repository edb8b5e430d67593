// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package outlier

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// drive runs a fleet through random loads, failures in a row, sweeps at any time
// and changes of the list, and has check look after each sweep.
func drive(t *rapid.T, check func(t *rapid.T, d *Detector, now int64, listed []*Record, changes []Change)) {
	cfg := Defaults()
	cfg.MaxShare = rapid.SampledFrom([]float64{0.01, 0.1, 0.29, 0.3, 0.5, 0.7, 1}).Draw(t, "share")
	cfg.BaseTime = time.Duration(rapid.IntRange(1, 40).Draw(t, "base")) * time.Second
	cfg.MaxTime = cfg.BaseTime + time.Duration(rapid.IntRange(0, 100).Draw(t, "more"))*time.Second
	d, all := fleetOf(cfg, rapid.IntRange(1, 12).Draw(t, "hosts"))
	listed, now := all, int64(0)
	for range rapid.IntRange(1, 60).Draw(t, "steps") {
		now += int64(rapid.SampledFrom([]time.Duration{0, 1, 500 * time.Millisecond, time.Second, 9 * time.Second}).Draw(t, "wait"))
		if rapid.IntRange(0, 9).Draw(t, "change") == 0 {
			listed = all[:rapid.IntRange(0, len(all)).Draw(t, "listed")]
		}
		for _, r := range all {
			calls := rapid.SampledFrom([]int{0, 1, 7, 30, 100}).Draw(t, "calls")
			load{
				calls, rapid.IntRange(0, calls).Draw(t, "fail"),
				rapid.SampledFrom([]int64{0, ms, 5 * ms, 90 * ms}).Draw(t, "took"),
			}.on(r, now)
		}
		changes, _ := d.Sweep(now, listed)
		check(t, d, now, listed, changes)
	}
}

func TestNeverMoreThanMaxShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		drive(t, func(t *rapid.T, d *Detector, _ int64, listed []*Record, _ []Change) {
			out := 0
			for _, r := range listed {
				if r.Ejected() {
					out++
				}
			}
			if share := d.cfg.MaxShare * float64(len(listed)); float64(out) > share+1e-6 {
				t.Fatalf("%d of %d are ejected at a share of %v", out, len(listed), d.cfg.MaxShare)
			}
		})
	})
}

// TestReturnsInTime: after a sweep nobody is ejected whose time is over, and who
// came back had had its time or was in the way of MaxShare.
func TestReturnsInTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		drive(t, func(t *rapid.T, _ *Detector, now int64, listed []*Record, changes []Change) {
			for _, r := range listed {
				if e, ok := r.Ejection(); ok && e.Until <= now {
					t.Fatalf("%+v at %d", e, now)
				}
			}
			for _, c := range changes {
				if c.Returned && !c.Early && c.Ejection.Until > now {
					t.Fatalf("%+v at %d", c, now)
				}
			}
		})
	})
}

// TestTheTimeIsBaseTimesMultiplier, at most MaxTime, and the multiplier grows by
// one at a time.
func TestTheTimeIsBaseTimesMultiplier(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := map[*Record]int{}
		drive(t, func(t *rapid.T, d *Detector, now int64, listed []*Record, changes []Change) {
			for _, c := range changes {
				if c.Returned {
					continue
				}
				e, r := c.Ejection, listed[c.Index]
				if want := min(int64(d.cfg.BaseTime)*int64(e.Multiplier), int64(d.cfg.MaxTime)); e.Until-now != want || e.Since != now {
					t.Fatalf("%+v at %d, want %d long", e, now, want)
				}
				if e.Multiplier < 1 || e.Multiplier > before[r]+1 {
					t.Fatalf("multiplier %d after %d", e.Multiplier, before[r])
				}
				before[r] = e.Multiplier
			}
		})
	})
}

// TestAlikeNobodyIsEjected: also where all fail, or all are slow.
func TestAlikeNobodyIsEjected(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, hosts := fleetOf(Defaults(), rapid.IntRange(1, 30).Draw(t, "hosts"))
		for i := range int64(rapid.IntRange(1, 30).Draw(t, "intervals")) {
			calls := rapid.IntRange(0, 200).Draw(t, "calls")
			l := load{calls, rapid.IntRange(0, calls).Draw(t, "fail"), rapid.Int64Range(0, 10*second).Draw(t, "took")}
			for _, r := range hosts {
				l.on(r, i*second)
			}
			if changes, _ := d.Sweep(i*second, hosts); len(changes) > 0 {
				t.Fatalf("%+v", changes)
			}
		}
	})
}

// TestByChanceIsABound: what it excludes is as unlikely as it says.
func TestByChanceIsABound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "n")
		k := rapid.IntRange(0, n).Draw(t, "k")
		p := rapid.Float64Range(0.001, 0.999).Draw(t, "p")
		if !byChance(float64(k)/float64(n), float64(n), p) && tail(n, k, p) > 1.1e-6 {
			t.Fatalf("%d of %d at %v are said to be no chance, whose probability is %v", k, n, p, tail(n, k, p))
		}
	})
}
