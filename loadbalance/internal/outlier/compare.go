// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package outlier

// spans are the numbers of intervals over which hosts are compared.
var spans = [...]int{1, 3, kept}

// window is what happened at a host in a span.
type window struct {
	index int
	totals
}

// comparison holds the windows of all hosts for each span, and what is used on
// the way.
type comparison struct {
	windows           [len(spans)][]window
	values, distances []float64
}

// suspectOutliers compares the hosts that are not ejected, cause by cause.
func (d *Detector) suspectOutliers(records []*Record) {
	c := &d.compare
	c.look(records)
	for _, windows := range c.windows {
		d.suspectShares(records, windows)
	}
	for _, windows := range c.windows {
		d.suspectRates(records, windows)
	}
	for _, windows := range c.windows {
		d.suspectLatencies(records, windows)
	}
}

func (c *comparison) look(records []*Record) {
	for i := range c.windows {
		c.windows[i] = c.windows[i][:0]
	}
	for index, r := range records {
		if r.Ejected() {
			continue
		}
		now := r.counters.totals()
		for i, span := range spans {
			c.windows[i] = append(c.windows[i], window{index, now.minus(r.past.ago(span))})
		}
	}
}
