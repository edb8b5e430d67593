// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package outlier

import (
	"math"
	"sync/atomic"
)

// counters only ever grow, so that a call adds to them and is done: nothing is
// reset that others count in. A sweep looks at differences, in which a wrap-around
// of the integers cancels out.
type counters struct {
	failures  atomic.Uint64
	successes atomic.Uint64
	took      atomic.Uint64 // by successes, in nanoseconds
	squares   atomic.Uint64 // of what they took, in units squared
}

const (
	// unit is that of the squares, 65.536 us: fine enough for a standard error of
	// milliseconds, and coarse enough for their sum.
	unit = 1 << unitBits
	// unitBits is its binary logarithm.
	unitBits = 16
	// longest is what a call counts for at most, 69 s.
	longest = 1 << 36
)

func (c *counters) succeeded(took int64) {
	t := uint64(min(max(took, 0), longest))
	c.successes.Add(1)
	c.took.Add(t)
	units := (t + unit/2) >> unitBits
	c.squares.Add(units * units)
}

// totals are the counters at one moment.
type totals struct{ failures, successes, took, squares uint64 }

func (c *counters) totals() totals {
	return totals{c.failures.Load(), c.successes.Load(), c.took.Load(), c.squares.Load()}
}

func (t totals) minus(before totals) totals {
	return totals{
		t.failures - before.failures,
		t.successes - before.successes,
		t.took - before.took,
		t.squares - before.squares,
	}
}

func (t totals) calls() uint64 { return t.failures + t.successes }

// successRate is that of at least one call.
func (t totals) successRate() float64 { return float64(t.successes) / float64(t.calls()) }

// latency returns what a successful call took on average, of at least one, in
// nanoseconds, and the standard error of that.
func (t totals) latency() (mean, stderr float64) {
	n := float64(t.successes)
	mean = float64(t.took) / n
	variance := float64(t.squares)/n*unit*unit - mean*mean
	return mean, math.Sqrt(max(variance, 0) / n)
}

// kept is how many intervals are looked back upon.
const kept = 10

// history are the totals at the latest comparisons. The zero history begins with
// zero totals.
type history struct {
	ring [kept]totals
	next int // the number of comparisons since the beginning
	base totals
}

func (h *history) restart(base totals) { h.next, h.base = 0, base }

func (h *history) add(t totals) {
	h.ring[h.next%kept] = t
	h.next++
}

// ago returns the totals of so many intervals ago, at most kept, or those of the
// beginning if that was later.
func (h *history) ago(intervals int) totals {
	if intervals > h.next {
		return h.base
	}
	return h.ring[(h.next-intervals)%kept]
}
