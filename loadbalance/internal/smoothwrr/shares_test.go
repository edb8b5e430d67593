// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package smoothwrr

import (
	"math"
	"slices"
	"testing"
)

// fleet is a list that changes while turns are taken, and what each item was due.
type fleet struct {
	weights  []uint64
	sequence *Sequence[int]
	due, got []float64
}

func newFleet(weights []uint64) *fleet {
	f := &fleet{weights: weights, sequence: sequence(weights, nil)}
	f.reset()
	return f
}

func (f *fleet) reset() {
	f.due, f.got = make([]float64, len(f.weights)), make([]float64, len(f.weights))
}

// set changes one weight. Every other change is followed by enough calm for
// nginx's order to be laid out.
func (f *fleet) set(i int, weight uint64, calm bool) {
	f.weights[i] = weight
	f.sequence = sequence(f.weights, f.sequence)
	if calm && f.sequence.Provisional() {
		f.sequence = f.sequence.Finish()
	}
}

func (f *fleet) take(turns int) {
	total := float64(sum(f.weights))
	for range turns {
		f.got[f.sequence.Next()]++
	}
	for i, w := range f.weights {
		f.due[i] += float64(turns) * float64(w) / total
	}
}

// worst is by how much an item's turns are off what it was due, as a part of
// that.
func (f *fleet) worst() (worst float64) {
	for i, due := range f.due {
		if due > 0 {
			worst = max(worst, math.Abs(f.got[i]-due)/due)
		}
	}
	return worst
}

func (f *fleet) cycle() int {
	common := uint64(0)
	for _, w := range f.weights {
		common = gcd(w, common)
	}
	return int(sum(f.weights) / common)
}

// sizes are a list whose cycle is laid out at once, and one that needs calm.
var sizes = map[string]int{"short": 10, "long": 150}

// TestSharesWhileWeightsRamp: one warms up from 1 to 100, in steps that are no
// part of a cycle.
func TestSharesWhileWeightsRamp(t *testing.T) {
	for name, n := range sizes {
		t.Run(name, func(t *testing.T) {
			weights := repeat(n, func(i int) uint64 { return uint64(80 + i*7%61) })
			weights[0] = 1
			f := newFleet(weights)
			for w := uint64(1); w <= 100; w++ {
				f.set(0, w, w%2 == 0)
				f.take(20*n + 1)
			}
			f.check(t, "during the ramp", 0.05)
			f.cycles(t)
		})
	}
}

// TestSharesWhileMembersRoll: each in turn leaves for a while and comes back, as
// in a rolling restart.
func TestSharesWhileMembersRoll(t *testing.T) {
	for name, n := range sizes {
		t.Run(name, func(t *testing.T) {
			weights := repeat(n, func(i int) uint64 { return uint64(20 + i*7%61) })
			f := newFleet(slices.Clone(weights))
			for i, w := range weights {
				f.set(i, 0, i%2 == 0)
				f.take(20*n + 1)
				f.set(i, w, i%3 == 0)
				f.take(7*n + 1)
			}
			f.check(t, "while members left and came", 0.05)
			f.cycles(t)
		})
	}
}

func (f *fleet) check(t *testing.T, when string, most float64) {
	t.Helper()
	if worst := f.worst(); worst > most {
		t.Errorf("%s a share was off by %.2f %% of itself, want at most %.0f %%", when, 100*worst, 100*most)
	}
}

// cycles looks at whole cycles from several moments on, once the list is calm.
func (f *fleet) cycles(t *testing.T) {
	t.Helper()
	f.set(0, f.weights[0], true)
	for range 5 {
		f.reset()
		f.take(f.cycle())
		f.check(t, "over a whole cycle", 0.01)
		f.take(37)
	}
}
