// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package story

import "github.com/fairway-rpc/fairway/examples/internal/load"

// count is what a step counted. Calls are all that ended. Failed is without
// InFlight: the calls that were with the provider that was killed.
type count struct {
	Calls    uint64 `json:"calls"`
	Failed   uint64 `json:"failed"`
	InFlight uint64 `json:"in_flight,omitempty"`
}

// loss says which calls a kill may cut: those to the address that began in the
// first phases of the step.
type loss struct {
	address string
	phases  int
}

// countOf adds up the phases of a step. No more calls than there are callers can
// have been in flight: what failed beyond that has failed.
func countOf(phases []load.Tally, killed loss) (c count) {
	for i, phase := range phases {
		c.Calls += phase.Calls
		c.Failed += phase.Failed
		if i < killed.phases {
			c.InFlight += phase.Instances[killed.address].Failed
		}
	}
	c.InFlight = min(c.InFlight, callers)
	c.Failed -= c.InFlight
	return c
}

// add adds up steps.
func (c *count) add(step count) {
	c.Calls += step.Calls
	c.Failed += step.Failed
	c.InFlight += step.InFlight
}
