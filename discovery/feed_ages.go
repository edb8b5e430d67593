// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import "time"

// ages remembers since when instances that want to warm up have been aging.
//
// An instance that appears while the feed follows the registry ages from the
// moment when it is first seen, by this process's own clock: the provider's may
// be wrong. One that was there before ages from when it says that it started,
// or from now if that is yet to come. Whoever comes back with the address and
// the start that it had has not started again and does not warm up again.
type ages map[address]age

type age struct {
	started time.Time // what the record says
	born    time.Time // on the monotonic clock
}

// forgetAfter is how long an instance that has gone is remembered, when there
// are more than twice as many remembered as there are.
const forgetAfter = time.Hour

// bornAt tells since when an instance has been aging.
func (a ages) bornAt(i *Instance, now time.Time, seenBefore bool) time.Time {
	key := addressID(i.addr)
	if known, ok := a[key]; ok && known.started.Equal(i.startedAt) {
		return known.born
	}
	born := now
	if since := now.Sub(i.startedAt); seenBefore && since > 0 && !i.startedAt.IsZero() {
		born = now.Add(-since)
	}
	a[key] = age{started: i.startedAt, born: born}
	return born
}

// forget drops those that have long been warm and are not among the instances.
func (a ages) forget(instances []*Instance, now time.Time) {
	if len(a) <= 2*len(instances)+64 {
		return
	}
	present := make(map[address]bool, len(instances))
	for _, i := range instances {
		present[addressID(i.addr)] = true
	}
	for key, known := range a {
		if !present[key] && now.Sub(known.born) > forgetAfter {
			delete(a, key)
		}
	}
}
