// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package outlier

// suspectRates suspects hosts with a success rate far below the median.
func (d *Detector) suspectRates(records []*Record, windows []window) {
	cfg, c := d.cfg.SuccessRate, &d.compare
	if cfg.StdevFactor == 0 {
		return
	}
	c.values = c.values[:0]
	for _, w := range windows {
		if w.calls() >= uint64(cfg.MinCalls) {
			c.values = append(c.values, w.successRate())
		}
	}
	if len(c.values) < cfg.MinHosts {
		return
	}
	var median, stdev float64
	median, stdev, c.distances = spread(c.values, c.distances)
	limit := median - max(cfg.StdevFactor*stdev, cfg.MinDelta)
	usual := usualFailures(windows, uint64(cfg.MinCalls), limit)
	for _, w := range windows {
		if w.calls() < uint64(cfg.MinCalls) {
			continue
		}
		rate := w.successRate()
		if rate >= limit || byChance(1-rate, float64(w.calls()), usual) {
			continue
		}
		d.suspect(records, suspect{
			index: w.index, cause: CauseSuccessRate, rank: rankRate,
			badness: -rate, value: rate, peers: median,
		})
	}
}

// usualFailures is the probability of a failure by the calls of all hosts whose rate
// is not below limit. It follows Laplace: that none has failed yet does not make a
// failure impossible. (The median rate would not do: where a host has few calls and
// few fail, it is 1.)
func usualFailures(windows []window, minCalls uint64, limit float64) float64 {
	var failures, calls uint64
	for _, w := range windows {
		if w.calls() >= minCalls && w.successRate() >= limit {
			failures += w.failures
			calls += w.calls()
		}
	}
	return float64(failures+1) / float64(calls+2)
}
