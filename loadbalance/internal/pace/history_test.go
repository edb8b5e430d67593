// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package pace

import (
	"math"
	"sync"
	"testing"
	"time"
)

const ms = int64(time.Millisecond)

// call is one that ends at a moment in milliseconds after it took so many.
type call struct {
	at, took int64
	failed   bool
}

func history(mean float64, calls ...call) *History {
	h := &History{}
	for _, c := range calls {
		if c.failed {
			h.Failed(c.at * ms)
		} else {
			h.AnsweredPeak(c.at*ms, c.took*ms, mean*float64(ms))
		}
	}
	return h
}

func near(got, want float64) bool { return math.Abs(got-want) <= 1e-3*math.Abs(want) }

func TestPeakLatency(t *testing.T) {
	a, b := call{at: 1000, took: 5}, call{at: 1000, took: 20}
	for name, c := range map[string]struct {
		history *History
		want    float64
	}{
		"nothing":                       {history(7), 0},
		"the first, nobody else":        {history(0, a), 5},
		"the first, below the mean":     {history(7, a), 7},
		"the first is a surprise":       {history(7, call{at: 1000, took: 1000}), 56},
		"a peak at once":                {history(0, a, b), 20},
		"a peak of more than a call":    {history(0, a, call{at: 1000, took: 500}, call{at: 1000, took: 500}), 320},
		"down over tau":                 {history(0, b, call{at: 1100, took: 5}), 5 + 15*math.Exp(-0.01)},
		"down by a trial":               {history(0, b, call{at: 1500, took: 5}), 12.5},
		"down by what is known no more": {history(0, b, call{at: 11_000, took: 5}), 5 + 15/math.E},
		"failures are no latency":       {history(0, a, call{at: 1001, took: 1, failed: true}), 5},
		"a clock put back":              {history(0, call{at: 9000, took: 20}, call{at: 8000, took: 5}), 20},
	} {
		if got := c.history.Latency() / float64(ms); !near(got, c.want) {
			t.Errorf("%s: %v ms, want %v", name, got, c.want)
		}
	}
}

// TestPlainLatency: the mean of the others counts for sixteen calls at first.
func TestPlainLatency(t *testing.T) {
	var h History
	for i := range int64(16) {
		h.Answered(1000*ms+i, 20*ms, 10*float64(ms))
	}
	if got := h.Latency() / float64(ms); got < 14 || got > 16 {
		t.Errorf("%v ms after sixteen calls of 20 and a mean of 10", got)
	}
	for i := range int64(100_000) {
		h.Answered(1000*ms+i*ms, (1+i%3)*ms, 0)
	}
	if got := h.Latency() / float64(ms); math.Abs(got-2) > 0.1 {
		t.Errorf("%v ms on average of 1, 2 and 3", got)
	}
}

func TestRisk(t *testing.T) {
	every := func(n, calls int64) *History {
		h := &History{}
		for i := int64(1); i <= calls; i++ {
			if n > 0 && i%n == 0 {
				h.Failed(i * ms)
			} else {
				h.Answered(i*ms, ms, 0)
			}
		}
		return h
	}
	for name, c := range map[string]struct {
		history     *History
		least, most float64
	}{
		"none fails":          {every(0, 1000), 1, 1},
		"one in two hundred":  {every(200, 1000), 1, 1.05},
		"every other":         {every(2, 1000), 15, 40},
		"all":                 {every(1, 1000), 200, 201},
		"one after a minute":  {history(0, call{at: 1, took: 1}, call{at: 60_000, failed: true}), 2, 30},
		"all, and two trials": {func() *History { h := every(1, 1000); h.Answered(1500*ms, ms, 0); h.Answered(2000*ms, ms, 0); return h }(), 1, 5},
	} {
		if got := c.history.Risk(); got < c.least || got > c.most {
			t.Errorf("%s: the risk is %v, want %v to %v", name, got, c.least, c.most)
		}
	}
}

func TestMeanFollows(t *testing.T) {
	var m Mean
	if m.Value() != 0 {
		t.Errorf("the mean of nothing is %v", m.Value())
	}
	for i := range int64(20_000) {
		m.Observe(i*ms, float64(ms*(1+i%3))) // 1, 2, 3, 1 ...
	}
	if got := m.Value() / float64(ms); math.Abs(got-2) > 0.1 {
		t.Errorf("mean %v ms of 1, 2 and 3", got)
	}
}

func TestConcurrentCallsTearNothing(t *testing.T) {
	var h History
	var m Mean
	var all sync.WaitGroup
	for g := range int64(4) {
		all.Go(func() {
			for i := range int64(5000) {
				m.Observe(i*ms, h.AnsweredPeak(i*ms, (g+1)*ms, m.Value()))
				h.Failed(i * ms)
				e, mean, risk := h.Latency(), m.Value(), h.Risk()
				if e < float64(ms) || e > 4*float64(ms) || mean < float64(ms) || mean > 4*float64(ms) || risk < 1 || risk > 1+hopeless {
					t.Errorf("estimate %v, mean %v, risk %v", e, mean, risk)
					return
				}
			}
		})
	}
	all.Wait()
}

func TestNothingIsAllocated(t *testing.T) {
	var h History
	var m Mean
	if n := testing.AllocsPerRun(100, func() {
		m.Observe(1, h.AnsweredPeak(1, 2, m.Value())+h.Answered(1, 2, 3))
		h.Failed(2)
		_ = h.Latency() * h.Risk()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkAnswered(b *testing.B) {
	var h History
	for i := int64(1); b.Loop(); i++ {
		h.AnsweredPeak(i*1000, 500+i%100, 500)
	}
}
