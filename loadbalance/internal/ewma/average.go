// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ewma

import (
	"math"
	"sync/atomic"
	"time"
)

const (
	// Tau is the time in which what was known counts for 1/e.
	Tau = 10 * time.Second
	// Failure is what a failure counts as at least.
	Failure = time.Second
)

// Average is the estimate of one item. The zero Average knows nothing. It is safe
// for concurrent use: of calls that end at the same moment each counts, if with
// the weight of a moment. It is observed in one of two ways, by ObservePeak or by
// Observe.
type Average struct {
	// bits are those of the estimate in nanoseconds, negative after a failure.
	bits atomic.Uint64
	last atomic.Int64 // when a call ended last
	seen atomic.Int64 // since the beginning or a failure
}

// ObservePeak takes in a call that ended at now, after took, both in nanoseconds
// on one monotonic clock. One that took longer than the estimate becomes it.
func (a *Average) ObservePeak(now, took int64, failed bool) {
	fresh := a.fresh(now)
	a.update(took, failed, func(estimate, took float64) float64 {
		if took > estimate {
			return took
		}
		return estimate + (took-estimate)*fresh
	})
}

// Observe takes in a call as ObservePeak does, but as a plain average: the first
// calls count alike, and later ones for as long as Tau.
func (a *Average) Observe(now, took int64, failed bool) {
	fresh := max(a.fresh(now), 1/float64(a.seen.Add(1)))
	if failed {
		a.seen.Store(0)
	}
	a.update(took, failed, func(estimate, took float64) float64 { return estimate + (took-estimate)*fresh })
}

// fresh is how much a call counts that ends at now, by the time since the last.
func (a *Average) fresh(now int64) float64 {
	return 1 - math.Exp(-float64(max(now-a.last.Swap(now), 0))/float64(Tau))
}

func (a *Average) update(nanoseconds int64, failed bool, average func(estimate, took float64) float64) {
	took := float64(max(nanoseconds, 1))
	for {
		before := a.bits.Load()
		after := math.Float64frombits(before)
		switch {
		case failed:
			after = -max(took, float64(Failure))
		case after <= 0:
			after = took
		default:
			after = average(after, took)
		}
		if a.bits.CompareAndSwap(before, math.Float64bits(after)) {
			return
		}
	}
}

// Estimate is what a call would take, in nanoseconds; 0 if nothing is known.
func (a *Average) Estimate() float64 { return math.Abs(math.Float64frombits(a.bits.Load())) }

// Last is when a call ended last; 0 if none has.
func (a *Average) Last() int64 { return a.last.Load() }

// Mean is the plain average of many items' calls, which stands for an item of
// which nothing is known. The zero Mean knows nothing. It is safe for concurrent
// use.
type Mean struct {
	bits atomic.Uint64
	last atomic.Int64
}

// least is the weight of one call in a mean while calls follow each other fast.
const least = 1. / 1024

// Observe takes in a call that succeeded.
func (m *Mean) Observe(now, took int64) {
	weight := max(1-math.Exp(-float64(max(now-m.last.Swap(now), 0))/float64(Tau)), least)
	for {
		before := m.bits.Load()
		mean := math.Float64frombits(before)
		if mean == 0 {
			weight = 1
		}
		if m.bits.CompareAndSwap(before, math.Float64bits(mean+(float64(max(took, 1))-mean)*weight)) {
			return
		}
	}
}

// Value is the mean in nanoseconds; 0 if nothing is known.
func (m *Mean) Value() float64 { return math.Float64frombits(m.bits.Load()) }
