// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import "time"

// An instance that warms up has a share of its weight that grows linearly with
// its age, in steps. While anybody warms up, all weights are multiplied by the
// number of steps, so that a weight of 1 grows, too.
const (
	warm = 1000
	// coldest is the first step: with no share at all an instance would warm up
	// idle.
	coldest = 10
	// Between two steps there is a hundredth of the warm-up time, but not so
	// little that building the lists would count, nor so much that a step shows.
	shortestStep = 100 * time.Millisecond
	longestStep  = time.Second
)

// warmthAt is how warm the candidate is, up to warm.
func (c *candidate) warmthAt(now time.Time) uint64 {
	if c.warmUp == nil {
		return warm
	}
	age := now.Sub(c.warmUp.Born)
	if age >= c.warmUp.Takes {
		return warm
	}
	return max(coldest, uint64(warm*max(age, 0)/c.warmUp.Takes))
}

// withWarmth is the candidate with another warmth, and factor of its share.
func (c *candidate) withWarmth(warmth, factor uint64) *candidate {
	if c.warmth == warmth && c.factor == factor {
		return c
	}
	other := *c
	other.warmth, other.factor = warmth, factor
	return &other
}

// warmUp sets how warm each candidate is now, and when that should be done again.
// Former is the table before.
func (t *table) warmUp(now time.Time, former *table) {
	if former.step == 0 && t.tally.warming == 0 {
		return // as almost always
	}
	for _, c := range t.list {
		if c.serving && c.warmthAt(now) < warm {
			step := min(max(c.warmUp.Takes/100, shortestStep), longestStep)
			if t.step == 0 || step < t.step {
				t.step = step
			}
		}
	}
	for i, c := range t.list {
		warmth := c.warmthAt(now)
		factor := warmth
		if t.step == 0 {
			factor = 1
		}
		t.list[i] = c.withWarmth(warmth, factor)
	}
}

// warmLater has the table built again after the step. Callers hold mu.
func (s *service) warmLater(t *table) {
	switch {
	case t.step == 0:
	case s.warming == nil:
		s.warming = time.AfterFunc(t.step, s.changed)
	default:
		s.warming.Reset(t.step)
	}
}

// hashWeight is the weight that places the candidate's keys. It does not warm up
// unless that is wanted, since keys would move at each step.
func (c *candidate) hashWeight() uint64 {
	if !c.node.service.core.config.hashWarmUp {
		return c.placed
	}
	return max(min(c.placed, 1), c.placed*c.warmth/warm)
}

// effective is the weight that counts now.
func (c *candidate) effective() float64 {
	if c.share() == 0 {
		return 0
	}
	return float64(c.weight) * float64(c.warmth) / warm
}
