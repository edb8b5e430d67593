// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package pace

import (
	"math"
	"sync/atomic"
)

// Mean is the average of many items' estimates, which stands for that of an item
// of which nothing is known. The zero Mean knows nothing. It is safe for
// concurrent use.
type Mean struct {
	bits atomic.Uint64
	last atomic.Int64
}

// least is the weight of one estimate in a mean while they follow each other
// fast.
const least = 1. / 1024

// Observe takes in an estimate that has just been made, at now.
func (m *Mean) Observe(now int64, estimate float64) {
	weight := max(1-math.Exp(-float64(max(now-m.last.Swap(now), 0))/float64(Tau)), least)
	for {
		before := m.bits.Load()
		mean := math.Float64frombits(before)
		if mean == 0 {
			weight = 1
		}
		if m.bits.CompareAndSwap(before, math.Float64bits(mean+(estimate-mean)*weight)) {
			return
		}
	}
}

// Value is the mean in nanoseconds; 0 if nothing is known.
func (m *Mean) Value() float64 { return math.Float64frombits(m.bits.Load()) }
