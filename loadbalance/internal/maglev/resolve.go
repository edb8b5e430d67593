// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package maglev

import "slices"

// resolve tells for each slot which serving item has its keys: its owner, or
// that of the next slot whose owner serves, going round. It is empty if nobody
// serves.
func resolve(owners []uint32, serves []bool) []uint32 {
	if !slices.Contains(serves, false) {
		return owners
	}
	first := slices.IndexFunc(owners, func(owner uint32) bool { return serves[owner] })
	if first < 0 {
		return nil
	}
	resolved := make([]uint32, len(owners))
	next := owners[first] // the last slots lead round to the first
	for i := len(owners) - 1; i >= 0; i-- {
		if owner := owners[i]; serves[owner] {
			next = owner
		}
		resolved[i] = next
	}
	return resolved
}
