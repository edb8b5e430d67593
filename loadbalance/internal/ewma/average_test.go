// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ewma

import (
	"math"
	"sync"
	"testing"
	"time"
)

const ms = int64(time.Millisecond)

func observed(calls ...func(*Average)) float64 {
	var a Average
	for _, call := range calls {
		call(&a)
	}
	return a.Estimate() / float64(ms)
}

func call(at, took time.Duration, failed bool) func(*Average) {
	return func(a *Average) { a.ObservePeak(int64(at), int64(took), failed) }
}

func TestEstimate(t *testing.T) {
	ok := func(at, took time.Duration) func(*Average) { return call(at, took, false) }
	bad := func(at, took time.Duration) func(*Average) { return call(at, took, true) }
	for name, c := range map[string]struct{ got, want float64 }{
		"nothing":            {observed(), 0},
		"one":                {observed(ok(time.Second, 5*time.Millisecond)), 5},
		"a peak at once":     {observed(ok(1*time.Second, 5*time.Millisecond), ok(1*time.Second, 80*time.Millisecond)), 80},
		"down over tau":      {observed(ok(1*time.Second, 80*time.Millisecond), ok(11*time.Second, 5*time.Millisecond)), 5 + 75/math.E},
		"a failure":          {observed(ok(1*time.Second, 5*time.Millisecond), bad(2*time.Second, time.Millisecond)), 1000},
		"a slow failure":     {observed(bad(2*time.Second, 3*time.Second)), 3000},
		"a success after it": {observed(bad(1*time.Second, time.Millisecond), ok(2*time.Second, 7*time.Millisecond)), 7},
		"a clock put back":   {observed(ok(9*time.Second, 80*time.Millisecond), ok(8*time.Second, 5*time.Millisecond)), 80},
	} {
		if math.Abs(c.got-c.want) > 1e-9 {
			t.Errorf("%s: %v ms, want %v", name, c.got, c.want)
		}
	}
}

// TestPlainAverage: the first calls count alike, a failure begins anew.
func TestPlainAverage(t *testing.T) {
	var a Average
	for i, took := range []int64{2, 4, 6, 8} {
		a.Observe(int64(i)+1, took*ms, false)
	}
	if got := a.Estimate() / float64(ms); math.Abs(got-5) > 1e-3 {
		t.Errorf("%v ms on average of 2, 4, 6 and 8", got)
	}
	a.Observe(10, ms, true)
	if got := a.Estimate(); got != float64(Failure) {
		t.Errorf("%v after a failure", got)
	}
	a.Observe(11, 3*ms, false)
	a.Observe(12, 5*ms, false)
	if got := a.Estimate() / float64(ms); math.Abs(got-4) > 1e-3 {
		t.Errorf("%v ms on average of 3 and 5 after a failure", got)
	}
	a.Observe(12+int64(Tau), 14*ms, false)
	if got, want := a.Estimate()/float64(ms), 14-10/math.E; math.Abs(got-want) > 1e-3 {
		t.Errorf("%v ms after tau, want %v", got, want)
	}
}

func TestMeanFollows(t *testing.T) {
	var m Mean
	if m.Value() != 0 {
		t.Errorf("the mean of nothing is %v", m.Value())
	}
	for i := range int64(20_000) {
		m.Observe(i*ms, ms*(1+i%3)) // 1, 2, 3, 1 ...
	}
	if got := m.Value() / float64(ms); math.Abs(got-2) > 0.1 {
		t.Errorf("mean %v ms of 1, 2 and 3", got)
	}
}

func TestConcurrentCallsTearNothing(t *testing.T) {
	var a Average
	var m Mean
	var all sync.WaitGroup
	for g := range int64(4) {
		all.Go(func() {
			for i := range int64(5000) {
				a.ObservePeak(i*ms, (g+1)*ms, false)
				m.Observe(i*ms, (g+1)*ms)
				if e, mean := a.Estimate(), m.Value(); e < float64(ms) || e > 4*float64(ms) || mean < float64(ms) || mean > 4*float64(ms) {
					t.Errorf("estimate %v, mean %v", e, mean)
					return
				}
			}
		})
	}
	all.Wait()
}

func TestNothingIsAllocated(t *testing.T) {
	var a Average
	var m Mean
	if n := testing.AllocsPerRun(100, func() { a.ObservePeak(1, 2, false); a.Observe(1, 2, false); m.Observe(1, 2); _ = a.Estimate() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkObserve(b *testing.B) {
	var a Average
	for i := int64(0); b.Loop(); i++ {
		a.ObservePeak(i*1000, 500+i%100, false)
	}
}
