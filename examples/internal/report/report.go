// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package report is the demo's result for programs: one line of JSON.
package report

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/fairway-rpc/fairway/examples/internal/load"
	"github.com/fairway-rpc/fairway/examples/internal/share"
)

// Report says how the calls were spread.
type Report struct {
	Policy string `json:"policy"`
	// Calls are those that ended since every provider had been called once,
	// Failed those that failed since the first call.
	Calls     uint64     `json:"calls"`
	Failed    uint64     `json:"failed"`
	Instances []Instance `json:"instances"`
}

// Instance is one provider's part. Shares are between 0 and 1.
type Instance struct {
	Address       string  `json:"address"`
	Weight        int     `json:"weight"`
	ExpectedShare float64 `json:"expected_share"`
	Share         float64 `json:"share"`
	Calls         uint64  `json:"calls"`
}

// New makes a report of the calls in tally and the failures in all.
func New(policy string, rows []share.Row, tally load.Tally, failed uint64) Report {
	r := Report{Policy: policy, Calls: tally.Calls, Failed: failed, Instances: make([]Instance, 0, len(rows))}
	for _, row := range rows {
		r.Instances = append(r.Instances, Instance{
			Address: row.Address, Weight: row.Weight,
			ExpectedShare: row.Expected, Share: row.Actual, Calls: row.Calls,
		})
	}
	return r
}

// Write writes the report as one line.
func (r Report) Write(w io.Writer) error {
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s\n", line)
	return err
}
