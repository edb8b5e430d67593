// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package outlier

// suspectShares suspects hosts with too high a share of failures, unless there is
// none with a lower one.
func (d *Detector) suspectShares(records []*Record, windows []window) {
	cfg := d.cfg.FailureShare
	if cfg.Threshold == 0 {
		return
	}
	hosts, good := 0, 0
	for _, w := range windows {
		if w.calls() < uint64(cfg.MinCalls) {
			continue
		}
		hosts++
		if 1-w.successRate() < cfg.Threshold {
			good++
		}
	}
	if hosts < cfg.MinHosts || good == 0 {
		return
	}
	for _, w := range windows {
		if w.calls() < uint64(cfg.MinCalls) {
			continue
		}
		if share := 1 - w.successRate(); share >= cfg.Threshold {
			d.suspect(records, suspect{
				index: w.index, cause: CauseFailureShare, rank: rankShare,
				badness: share, value: share, peers: cfg.Threshold,
			})
		}
	}
}
