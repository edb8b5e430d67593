// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package load

import "slices"

// Tally is what was counted up to a moment, or between two.
type Tally struct {
	// Calls is the sum of the instances' calls and Nowhere's; Failed likewise.
	Calls, Failed uint64
	// Nowhere counts the calls that reached no instance; they failed.
	Nowhere Instance
	// Instances are by address.
	Instances map[string]Instance
	// Errors are the first few different errors since the beginning.
	Errors []string
}

// Instance is one instance's part of a Tally.
type Instance struct {
	// Calls are those that ended, Failed those of them that failed.
	Calls, Failed uint64
	// InFlight is how many were under way when the Tally was read.
	InFlight int64
}

// Read returns what has been counted so far.
func (c *Counts) Read() Tally {
	t := Tally{Instances: make(map[string]Instance), Nowhere: c.nowhere.read()}
	t.Calls, t.Failed = t.Nowhere.Calls, t.Nowhere.Failed
	c.instances.Range(func(address, value any) bool {
		i := value.(*instance).read()
		t.Instances[address.(string)] = i
		t.Calls += i.Calls
		t.Failed += i.Failed
		return true
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	t.Errors = slices.Clone(c.errors)
	return t
}

// read takes the failures first, since a call is counted as a call before it is
// as a failure: there are never more failures than calls.
func (i *instance) read() Instance {
	failed := i.failed.Load()
	return Instance{Calls: i.calls.Load(), Failed: failed, InFlight: i.inFlight.Load()}
}

// Since returns what came after an earlier Tally of the same Counts.
func (t Tally) Since(earlier Tally) Tally {
	t.Calls -= earlier.Calls
	t.Failed -= earlier.Failed
	t.Nowhere = t.Nowhere.since(earlier.Nowhere)
	instances := make(map[string]Instance, len(t.Instances))
	for address, i := range t.Instances {
		instances[address] = i.since(earlier.Instances[address])
	}
	t.Instances = instances
	return t
}

func (i Instance) since(earlier Instance) Instance {
	i.Calls -= earlier.Calls
	i.Failed -= earlier.Failed
	return i
}
