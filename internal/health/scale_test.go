// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"context"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

func addresses(prefix string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = prefix + strconv.Itoa(i)
	}
	return all
}

// TestManyTargets are checked at their interval by few goroutines, spread evenly.
func TestManyTargets(t *testing.T) {
	const n = 10_000
	before := runtime.NumGoroutine()
	most := 0
	inBubble(t, Config{}, func(context.Context, string) error {
		time.Sleep(5 * time.Millisecond)
		return nil
	}, func(w *world) {
		w.Set(addresses("t", n))
		for range 60 {
			time.Sleep(500 * time.Millisecond)
			most = max(most, runtime.NumGoroutine())
		}
		perSecond := make([]int, 31)
		for _, address := range addresses("t", n) {
			times := w.times(address)
			if len(times) < 2 || times[0] > 10100*time.Millisecond {
				t.Fatalf("%s was checked at %v", address, times)
			}
			for _, at := range times {
				perSecond[at/time.Second]++
			}
		}
		// The jitter lets the second round begin a second before the first has ended,
		// so that a quarter of a second's checks move from one second to another.
		for second, checks := range perSecond[:30] {
			if checks < n/10*65/100 || checks > n/10*135/100 {
				t.Errorf("%d checks in second %d, want about %d", checks, second, n/10)
			}
		}
		if w.most > 16 {
			t.Errorf("%d checks at a time", w.most)
		}
	})
	if most > before+25 {
		t.Errorf("%d goroutines, %d before", most, before)
	}
}

// TestTheSickDoNotStarveTheWell: with many targets that run into the timeout, the
// others are still checked at their interval.
func TestTheSickDoNotStarveTheWell(t *testing.T) {
	inBubble(t, Config{Concurrency: 4}, func(ctx context.Context, address string) error {
		if strings.HasPrefix(address, "sick") {
			return hangs(ctx, address)
		}
		return nil
	}, func(w *world) {
		w.Set(append(addresses("sick", 100), addresses("well", 100)...))
		time.Sleep(10 * time.Minute) // until all are known
		if all := w.takeReports(); len(all) != 100 {
			t.Fatalf("%d reports of 100 targets that are sick", len(all))
		}
		known := time.Since(w.began)
		time.Sleep(10 * time.Minute)
		for _, address := range addresses("well", 100) {
			times := w.times(address)
			for i, gap := range gaps(times) {
				if times[i] > known && !within(gap, 10*time.Second) {
					t.Errorf("%v between checks of a target that is well", gap)
				}
			}
		}
		for _, address := range addresses("sick", 100) {
			for i, times := 0, w.times(address); i+1 < len(times); i++ {
				if gap := times[i+1] - times[i]; times[i] > known && gap > 52*time.Second { // two of them a second
					t.Errorf("%v between checks of a target that is sick", gap)
				}
			}
		}
	})
}
