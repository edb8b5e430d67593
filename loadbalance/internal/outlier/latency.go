// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package outlier

import "slices"

// certain is how many standard errors a mean is lowered by. One stall in n calls
// makes a standard error of about the mean; it takes more than certain squared of
// them to stand out.
const certain = 3

// suspectLatencies suspects hosts that are far slower than the median.
func (d *Detector) suspectLatencies(records []*Record, windows []window) {
	cfg, c := d.cfg.Latency, &d.compare
	if cfg.Factor == 0 {
		return
	}
	c.values = c.values[:0]
	for _, w := range windows {
		if w.successes >= uint64(cfg.MinCalls) {
			mean, _ := w.latency()
			c.values = append(c.values, mean)
		}
	}
	if len(c.values) < cfg.MinHosts {
		return
	}
	slices.Sort(c.values)
	median := lower(c.values)
	for _, w := range windows {
		if w.successes < uint64(cfg.MinCalls) {
			continue
		}
		mean, stderr := w.latency()
		if mean-certain*stderr <= cfg.Factor*median || mean-median < float64(cfg.MinDelta) {
			continue
		}
		d.suspect(records, suspect{
			index: w.index, cause: CauseLatency, rank: rankLatency,
			badness: mean / max(median, 1), value: mean, peers: median,
		})
	}
}
