// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package outlier

import (
	"testing"
	"time"
)

func fail(r *Record, now int64) {
	for range 5 {
		r.Call(now, 0, true)
	}
}

// TestFailuresInARowNeedNoInterval: a sweep between two comparisons ejects.
func TestFailuresInARowNeedNoInterval(t *testing.T) {
	d, hosts := fleetOf(Defaults(), 3)
	d.Sweep(second, hosts)
	fail(hosts[1], second+1)
	changes, _ := d.Sweep(second+2, hosts)
	want := Ejection{
		Cause: CauseConsecutive, Since: second + 2, Until: 31*second + 2,
		Multiplier: 1, Value: 5, Peers: 5,
	}
	if len(changes) != 1 || changes[0] != (Change{Index: 1, Ejection: want}) {
		t.Fatalf("%+v", changes)
	}
	if got, ok := hosts[1].Ejection(); !ok || got != want || !hosts[1].Ejected() {
		t.Errorf("%+v", got)
	}
}

// TestTimesGrowAndFall: each ejection is longer by BaseTime, up to MaxTime; after
// ten intervals without one the next is shorter by BaseTime.
func TestTimesGrowAndFall(t *testing.T) {
	cfg := Defaults()
	cfg.MaxTime = 75 * time.Second
	d, hosts := fleetOf(cfg, 3)
	now := second
	// eject returns for how long, and comes back when that is over.
	eject := func() time.Duration {
		t.Helper()
		fail(hosts[0], now)
		changes, _ := d.Sweep(now, hosts)
		if len(changes) != 1 || changes[0].Returned {
			t.Fatalf("%+v at an ejection", changes)
		}
		until := changes[0].Ejection.Until
		lasted := time.Duration(until - now)
		for ; now < until; now += second {
			if early, _ := d.Sweep(now, hosts); len(early) > 0 {
				t.Fatalf("%+v after %v of %v", early, time.Duration(now-until)+lasted, lasted)
			}
		}
		now = until
		changes, _ = d.Sweep(now, hosts)
		if len(changes) != 1 || !changes[0].Returned || changes[0].Early {
			t.Fatalf("%+v when it was over", changes)
		}
		return lasted
	}
	expect := func(want time.Duration) {
		t.Helper()
		if got := eject(); got != want {
			t.Errorf("ejected for %v, want %v", got, want)
		}
	}
	calm := func(seconds int64) {
		for range seconds {
			now += second
			d.Sweep(now, hosts)
		}
	}
	expect(30 * time.Second)
	expect(60 * time.Second)
	expect(75 * time.Second)
	expect(75 * time.Second)
	calm(9)
	expect(75 * time.Second)
	calm(10)
	expect(75 * time.Second) // 3 - 1 + 1
	calm(20)
	expect(60 * time.Second)
	calm(100)
	expect(30 * time.Second)
}

// TestWhatWasBeforeDoesNotCount: a host that comes back is judged by the calls
// that began afterwards.
func TestWhatWasBeforeDoesNotCount(t *testing.T) {
	d, hosts := fleetOf(Defaults(), 3)
	load{1000, 1000, ms}.on(hosts[0], second)
	d.Sweep(second, hosts)
	fail(hosts[0], 2*second)
	back := 31 * second
	if changes, _ := d.Sweep(back, hosts); len(changes) != 1 || !changes[0].Returned {
		t.Fatalf("%+v", changes)
	}
	for range 10 { // began while it was ejected
		if hosts[0].Call(back+second, second+1, true) {
			t.Error("told of a limit that calls from before have reached")
		}
	}
	for i := range int64(10) {
		for _, r := range hosts {
			load{100, 0, ms}.on(r, back+i*second)
		}
		if changes, _ := d.Sweep(back+i*second, hosts); len(changes) > 0 {
			t.Fatalf("%+v", changes)
		}
	}
}

// TestASmallerServiceBringsBack those whose time ends soonest.
func TestASmallerServiceBringsBack(t *testing.T) {
	d, hosts := fleetOf(Defaults(), 6)
	for i, r := range hosts[:3] {
		fail(r, int64(i+1)*second)
		d.Sweep(int64(i+1)*second, hosts)
	}
	changes, _ := d.Sweep(4*second, hosts[:4])
	if len(changes) != 1 || !changes[0].Returned || !changes[0].Early || changes[0].Index != 0 {
		t.Errorf("%+v, want the first one back", changes)
	}
}

// TestWhoFindsNoRoomIsNotForgotten: it is ejected once there is.
func TestWhoFindsNoRoomIsNotForgotten(t *testing.T) {
	d, hosts := fleetOf(Defaults(), 3)
	fail(hosts[0], second)
	d.Sweep(second, hosts)
	fail(hosts[1], 2*second)
	if changes, _ := d.Sweep(2*second, hosts); len(changes) > 0 {
		t.Errorf("%+v, of three two are ejected", changes)
	}
	changes, _ := d.Sweep(31*second, hosts)
	if len(changes) != 2 || !changes[0].Returned || changes[1].Index != 1 || changes[1].Returned {
		t.Errorf("%+v, want the first back and the second ejected", changes)
	}
}

// TestNextSweep: an interval later, or when a host is to return.
func TestNextSweep(t *testing.T) {
	d, hosts := fleetOf(Defaults(), 3)
	if _, next := d.Sweep(10, hosts); next != 10+second {
		t.Errorf("next at %d", next)
	}
	fail(hosts[0], 20)
	if _, next := d.Sweep(20, hosts); next != 10+second {
		t.Errorf("a sweep in between moved the next to %d", next)
	}
	if _, next := d.Sweep(30*second, hosts); next != 30*second+20 {
		t.Errorf("next at %d, want when the first one returns", next)
	}
}

// TestHowManyMayBeEjected: the share is rounded down, but not by the rounding of
// floating-point numbers.
func TestHowManyMayBeEjected(t *testing.T) {
	for _, c := range []struct {
		share       float64
		hosts, want int
	}{{0.5, 0, 0}, {0.5, 1, 0}, {0.5, 2, 1}, {0.5, 3, 1}, {0.5, 5, 2}, {0.1, 9, 0}, {0.1, 10, 1}, {0.29, 100, 29}, {1, 2, 1}, {1, 30, 29}} {
		cfg := Defaults()
		cfg.MaxShare = c.share
		d, hosts := fleetOf(cfg, c.hosts)
		for _, r := range hosts[:max(c.hosts-1, 0)] { // the last one answers
			fail(r, second)
		}
		if changes, _ := d.Sweep(second, hosts); len(changes) != c.want {
			t.Errorf("%d of %d were ejected at a share of %v, want %d", len(changes), c.hosts, c.share, c.want)
		}
	}
}
