// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package pace

import (
	"math"
	"sync/atomic"
	"time"
)

const (
	// Tau is the time in which what was known counts for 1/e.
	Tau = 10 * time.Second
	// Surprise is how many times the estimate a call counts for at most.
	Surprise = 8
	// trialAfter is how long an item was not called when a call is a trial.
	trialAfter = 250 * time.Millisecond
	// trial is what a trial counts.
	trial = 0.5
	// few is the number of calls that a plain average counts the mean of the
	// others for, as long as it knows little.
	few = 16
	// Of successes and failures each counts between these at least and at most:
	// the latest sixteen calls decide, and one of them does not.
	leastOutcome = 1. / 16
	mostOutcome  = 1. / 4
	// hopeless is what the cost of an item is multiplied by whose calls all fail.
	hopeless = 200
)

// History is what the calls of one item have shown. The zero History knows
// nothing. It is safe for concurrent use: of calls that end at the same moment
// each counts, if with the weight of a moment.
//
// Moments and durations are nanoseconds on one monotonic clock, moments are above
// 0.
type History struct {
	latency atomic.Uint64 // the bits of the estimate, 0 if nothing is known
	failing atomic.Uint64 // those of the part of the calls that fail
	slow    atomic.Uint64 // those of the slowness, 0 for 1
	last    atomic.Int64  // when a call ended last
	seen    atomic.Int64  // answers
}

// AnsweredPeak takes in a call that was answered at now, after took. Mean is that
// of the others' estimates, 0 if there is none. It returns the estimate.
func (h *History) AnsweredPeak(now, took int64, mean float64) float64 {
	fresh := h.fresh(now)
	return h.answer(took, mean, fresh, func(estimate, took float64) float64 {
		if took > estimate {
			return took
		}
		return estimate + (took-estimate)*fresh
	})
}

// Answered takes in a call as AnsweredPeak does, but as a plain average.
func (h *History) Answered(now, took int64, mean float64) float64 {
	fresh := h.fresh(now)
	weight := max(fresh, 1/float64(few+h.seen.Add(1)))
	return h.answer(took, mean, fresh, func(estimate, took float64) float64 { return estimate + (took-estimate)*weight })
}

// answer updates both averages.
func (h *History) answer(took int64, mean, fresh float64, average func(estimate, took float64) float64) float64 {
	h.outcome(0, fresh)
	for {
		before := h.latency.Load()
		estimate := math.Float64frombits(before)
		if estimate == 0 {
			estimate = mean
		}
		after := max(float64(took), 1)
		if estimate > 0 {
			after = average(estimate, min(after, estimate*Surprise))
		}
		if h.latency.CompareAndSwap(before, math.Float64bits(after)) {
			return after
		}
	}
}

// Failed takes in a call that failed at now.
func (h *History) Failed(now int64) { h.outcome(1, h.fresh(now)) }

func (h *History) outcome(failed, fresh float64) {
	weight := min(max(fresh, leastOutcome), mostOutcome)
	if fresh >= trial {
		weight = trial
	}
	for {
		before := h.failing.Load()
		if failed == 0 && before == 0 {
			return // as almost always
		}
		share := math.Float64frombits(before)
		if h.failing.CompareAndSwap(before, math.Float64bits(share+(failed-share)*weight)) {
			return
		}
	}
}

// fresh is how much a call counts that ends at now, by the time since the last.
func (h *History) fresh(now int64) float64 {
	last := h.last.Swap(now)
	idle := now - last
	switch {
	case last == 0 || idle <= 0:
		return 0
	case idle > int64(trialAfter):
		return max(trial, 1-math.Exp(-float64(idle)/float64(Tau)))
	}
	return 1 - math.Exp(-float64(idle)/float64(Tau))
}

// Latency is how long a call would take, in nanoseconds; 0 if nothing is known.
func (h *History) Latency() float64 { return math.Float64frombits(h.latency.Load()) }

// Last is when a call ended last; 0 if none has.
func (h *History) Last() int64 { return h.last.Load() }

// Compare sets the slowness of the item by what is known now, and by the mean of
// all estimates.
func (h *History) Compare(mean float64) {
	ratio := h.Risk()
	if latency := h.Latency(); latency > 0 && mean > 0 {
		ratio *= latency / mean
	}
	h.slow.Store(math.Float64bits(math.Exp2(math.Round(2*math.Log2(ratio)) / 2)))
}

// Slowness is how many times the mean a call took when [History.Compare] was
// called last, and with what it risked, in steps of half an octave: items that
// differ by less are alike. Any difference at all, which chance makes, would
// otherwise decide between items that are equally busy. It is 1 for an item of
// which nothing is known.
func (h *History) Slowness() float64 {
	if slow := h.slow.Load(); slow != 0 {
		return math.Float64frombits(slow)
	}
	return 1
}

// Risk is what to multiply the cost of a call by for the failures: 1 without any,
// 1.05 after one in sixteen, 26 if every other call fails, 201 if all do.
func (h *History) Risk() float64 {
	share := math.Float64frombits(h.failing.Load())
	return 1 + hopeless*share*share*share
}
