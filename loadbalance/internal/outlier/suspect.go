// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package outlier

import "cmp"

// suspect is a host that is to be ejected if there is room.
type suspect struct {
	index        int
	cause        Cause
	rank         int     // of the cause
	badness      float64 // among those of the same cause
	value, peers float64 // for the Ejection
}

func worstFirst(a, b suspect) int {
	return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.badness, a.badness), cmp.Compare(a.index, b.index))
}

// The ranks of the causes.
const (
	rankConsecutive = iota
	rankShare
	rankRate
	rankLatency
)

// suspect notes a host for the first cause found.
func (d *Detector) suspect(records []*Record, s suspect) {
	if r := records[s.index]; !r.suspected {
		r.suspected = true
		d.suspects = append(d.suspects, s)
	}
}

// suspectFailing suspects hosts at the limit of failures in a row, unless all others
// fail as well: then it is not the host.
func (d *Detector) suspectFailing(records []*Record) {
	someoneAnswers := false
	for i, r := range records {
		switch {
		case r.Ejected():
		case r.failing():
			streak := float64(r.streak.Load())
			d.suspect(records, suspect{
				index: i, cause: CauseConsecutive, rank: rankConsecutive,
				badness: streak, value: streak, peers: float64(r.limit),
			})
		case r.streak.Load() == 0:
			someoneAnswers = true
		}
	}
	if !someoneAnswers {
		d.acquit(records)
	}
}

// acquit drops all suspects.
func (d *Detector) acquit(records []*Record) {
	for _, s := range d.suspects {
		records[s.index].suspected = false
	}
	d.suspects = d.suspects[:0]
}
