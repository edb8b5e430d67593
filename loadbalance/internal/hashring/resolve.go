// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package hashring

import "slices"

// resolve tells for each point which serving item has its keys, so that lookups
// need not walk past those that do not serve. It is empty if nobody serves.
func (p *points) resolve(serves []bool) []uint32 {
	if !slices.Contains(serves, false) {
		return p.owners
	}
	first := slices.IndexFunc(p.owners, func(owner uint32) bool { return serves[owner] })
	if first < 0 {
		return nil
	}
	resolved := make([]uint32, len(p.owners))
	next := p.owners[first] // the last points lead round to the first
	for i := len(p.owners) - 1; i >= 0; i-- {
		if owner := p.owners[i]; serves[owner] {
			next = owner
		}
		resolved[i] = next
	}
	return resolved
}
