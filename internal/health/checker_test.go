// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// TestWellIsSilent: a target that is well is checked at the interval, and nothing
// is said.
func TestWellIsSilent(t *testing.T) {
	inBubble(t, Config{}, well, func(w *world) {
		w.Set([]string{"a"})
		time.Sleep(10 * time.Minute)
		times := w.times("a")
		if len(times) < 54 || times[0] > 10*time.Second {
			t.Errorf("%d checks in ten minutes, the first after %v", len(times), times[0])
		}
		for _, gap := range gaps(times) {
			if !within(gap, 10*time.Second) {
				t.Errorf("%v between checks", gap)
			}
		}
		if all := w.takeReports(); len(all) > 0 {
			t.Errorf("reported %v", all)
		}
	})
}

// TestVerdicts: three failures make a target unhealthy, two successes healthy, at
// the fast interval.
func TestVerdicts(t *testing.T) {
	inBubble(t, Config{}, sick, func(w *world) {
		w.Set([]string{"a"})
		time.Sleep(20 * time.Second)
		times := w.times("a")
		all := w.takeReports()
		if len(all) != 1 || all[0].healthy || all[0].address != "a" || !errors.Is(all[0].err, errSick) || all[0].at != times[2] {
			t.Fatalf("reported %v of checks at %v", all, times)
		}
		for _, gap := range gaps(times) {
			if !within(gap, time.Second) {
				t.Errorf("%v between checks of a target that fails", gap)
			}
		}
		before := len(times)
		w.nowAnswer(well)
		time.Sleep(time.Minute)
		times = w.times("a")
		all = w.takeReports()
		if len(all) != 1 || !all[0].healthy || all[0].err != nil || all[0].at != times[before+1] {
			t.Fatalf("reported %v of checks at %v", all, times[before:])
		}
		for _, gap := range gaps(times[before+1:]) {
			if !within(gap, 10*time.Second) {
				t.Errorf("%v between checks after it was well again", gap)
			}
		}
	})
}

// TestNoVerdictWithoutARow: two failures and a success, again and again.
func TestNoVerdictWithoutARow(t *testing.T) {
	n := 0
	inBubble(t, Config{}, func(context.Context, string) error {
		if n++; n%3 == 0 {
			return nil
		}
		return errSick
	}, func(w *world) {
		w.Set([]string{"a"})
		time.Sleep(10 * time.Minute)
		if all := w.takeReports(); len(all) > 0 || len(w.times("a")) < 100 {
			t.Errorf("reported %v after %d checks", all, len(w.times("a")))
		}
	})
}

// TestSilenceIsAFailure: a check that is not answered ends with the timeout.
func TestSilenceIsAFailure(t *testing.T) {
	inBubble(t, Config{Timeout: 3 * time.Second}, hangs, func(w *world) {
		w.Set([]string{"a"})
		time.Sleep(30 * time.Second)
		all, times := w.takeReports(), w.times("a")
		if len(all) != 1 || all[0].healthy || !errors.Is(all[0].err, context.DeadlineExceeded) || all[0].at != times[2]+3*time.Second {
			t.Errorf("reported %v of checks at %v", all, times)
		}
	})
}

// TestWantHereSaysNothing: a lack of file descriptors is not the target's.
func TestWantHereSaysNothing(t *testing.T) {
	inBubble(t, Config{}, func(context.Context, string) error {
		return fmt.Errorf("socket: %w", syscall.EMFILE)
	}, func(w *world) {
		w.Set([]string{"a"})
		time.Sleep(time.Minute)
		if all := w.takeReports(); len(all) > 0 || len(w.times("a")) < 4 {
			t.Errorf("reported %v after %d checks", all, len(w.times("a")))
		}
	})
}

func TestAPanicIsAFailure(t *testing.T) {
	inBubble(t, Config{}, func(context.Context, string) error { panic("oh") }, func(w *world) {
		w.Set([]string{"a"})
		time.Sleep(20 * time.Second)
		all := w.takeReports()
		if len(all) != 1 || all[0].healthy || !strings.Contains(all[0].err.Error(), "panicked: oh") {
			t.Errorf("reported %v", all)
		}
	})
}

// TestSetAgainChangesNothing: neither the times of checks nor what was learnt.
func TestSetAgainChangesNothing(t *testing.T) {
	inBubble(t, Config{}, sick, func(w *world) {
		for range 30 {
			w.Set([]string{"a", "a"})
			time.Sleep(time.Second)
		}
		if all := w.takeReports(); len(all) != 1 {
			t.Errorf("reported %v", all)
		}
		for _, gap := range gaps(w.times("a")) {
			if !within(gap, time.Second) {
				t.Errorf("%v between checks", gap)
			}
		}
	})
}

// TestWhoLeavesIsForgotten, also while it is being checked, and begins anew when it
// comes back.
func TestWhoLeavesIsForgotten(t *testing.T) {
	inBubble(t, Config{}, sick, func(w *world) {
		w.Set([]string{"a", "b"})
		time.Sleep(20 * time.Second)
		w.takeReports()
		w.Set([]string{"b"})
		before := len(w.times("a"))
		time.Sleep(time.Minute)
		if after := len(w.times("a")); after != before {
			t.Errorf("%d checks of a target that has left", after-before)
		}
		w.Set([]string{"a", "b"})
		time.Sleep(20 * time.Second)
		if all := w.takeReports(); len(all) != 1 || all[0].address != "a" {
			t.Errorf("reported %v, want that a is unhealthy again", all)
		}
	})
}

func TestLeavingCancelsTheCheck(t *testing.T) {
	inBubble(t, Config{Timeout: time.Hour}, hangs, func(w *world) {
		w.Set([]string{"a"})
		w.Check("a") // its outcome would be reported in any case
		time.Sleep(time.Second)
		w.Set(nil)
		synctest.Wait()
		if w.inFlight > 0 {
			t.Error("the check goes on")
		}
		if w.running {
			t.Error("the scheduler goes on without targets")
		}
		if all := w.takeReports(); len(all) > 0 {
			t.Errorf("reported %v", all)
		}
	})
}

func TestCloseEndsChecks(t *testing.T) {
	inBubble(t, Config{Timeout: time.Hour}, hangs, func(w *world) {
		w.Set([]string{"a", "b"})
		time.Sleep(11 * time.Second)
		began := time.Now()
		w.Close()
		if took := time.Since(began); took > 0 || w.inFlight > 0 {
			t.Errorf("Close took %v and left %d checks", took, w.inFlight)
		}
		w.Close()
		w.Set([]string{"a"})
		if w.Check("a") {
			t.Error("a closed checker has targets")
		}
		if all := w.takeReports(); len(all) > 0 {
			t.Errorf("reported %v", all)
		}
	})
}

// TestCloseWaitsForReports: none is running when it returns.
func TestCloseWaitsForReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		c, err := New(Config{Unhealthy: 1}, sick, func(string, bool, error) {
			time.Sleep(time.Minute)
			ended = true
		})
		if err != nil {
			t.Fatal(err)
		}
		c.Set([]string{"a"})
		time.Sleep(11 * time.Second)
		c.Close()
		if !ended {
			t.Error("a report goes on after Close")
		}
	})
}

// TestCheckAnswers at once and in any case, once however often it is asked.
func TestCheckAnswers(t *testing.T) {
	inBubble(t, Config{}, well, func(w *world) {
		w.Set([]string{"a"})
		time.Sleep(time.Minute)
		for _, c := range []struct {
			answer Func
			err    error
		}{{well, nil}, {sick, errSick}} {
			w.nowAnswer(c.answer)
			now := time.Since(w.began)
			for range 2 {
				if !w.Check("a") || w.Check("b") {
					t.Error("a is a target, b is none")
				}
			}
			if all := w.takeReports(); !slices.Equal(all, []reported{{now, "a", true, c.err}}) {
				t.Errorf("reported %v", all)
			}
		}
	})
}

// TestCheckDuringACheck: the answer is that of one that begins afterwards.
func TestCheckDuringACheck(t *testing.T) {
	inBubble(t, Config{}, hangs, func(w *world) {
		w.Set([]string{"a"})
		w.Check("a")
		synctest.Wait()
		w.Check("a")
		w.nowAnswer(well)
		time.Sleep(2 * time.Second)
		all := w.takeReports()
		if len(all) != 2 || !errors.Is(all[0].err, context.DeadlineExceeded) || all[1].err != nil || all[1].at != time.Second {
			t.Errorf("reported %v", all)
		}
	})
}
