// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package outlier

import (
	"math"
	"sync/atomic"
)

// Record counts the calls of one host; [Detector.NewRecord] makes one. It stays
// with the host for as long as its ejections are to be remembered. Call, Ejected and
// Ejection are safe for concurrent use, also during a sweep, take no lock and
// allocate nothing.
type Record struct {
	limit    int64        // of failures in a row; 0 for none
	since    atomic.Int64 // calls that began earlier do not count
	streak   atomic.Int64 // failures since the last success
	counters counters
	ejection atomic.Pointer[Ejection]

	// The rest belongs to the sweep.
	past       history
	multiplier int
	forgive    int64 // when the multiplier falls by one, unless ejected again
	suspected  bool  // in this sweep already
}

// ejectedSince is since of a host that is ejected: no call counts.
const ejectedSince = math.MaxInt64

// Call takes in a call that ended at now, after took, both in nanoseconds. It
// returns true to the one caller that makes the limit of consecutive failures full:
// it should have the service swept soon. (When many hosts fail, many callers are
// told at nearly the same time; one sweep after the last of them does for all.)
//
// A call that began before the host returned from an ejection does not count, nor
// does any while it is ejected.
func (r *Record) Call(now, took int64, failed bool) (limit bool) {
	if since := r.since.Load(); since != 0 && now-took < since {
		return false
	}
	if failed {
		r.counters.failures.Add(1)
		return r.streak.Add(1) == r.limit
	}
	if r.streak.Load() != 0 { // mostly it is, and a load leaves the line shared
		r.streak.Store(0)
	}
	r.counters.succeeded(took)
	return false
}

// Ejected reports whether the host is ejected.
func (r *Record) Ejected() bool { return r.ejection.Load() != nil }

// Ejection returns the present ejection, and false if there is none.
func (r *Record) Ejection() (Ejection, bool) {
	e := r.ejection.Load()
	if e == nil {
		return Ejection{}, false
	}
	return *e, true
}

// failing reports whether the limit of failures in a row is reached.
func (r *Record) failing() bool { return r.limit > 0 && r.streak.Load() >= r.limit }

func (r *Record) eject(e *Ejection) {
	r.since.Store(ejectedSince)
	r.multiplier = e.Multiplier
	r.ejection.Store(e)
}

// comeBack ends the ejection; everything is counted anew.
func (r *Record) comeBack(now, forgive int64) {
	r.past.restart(r.counters.totals())
	r.forgive = forgive
	r.streak.Store(0)
	r.since.Store(now)
	r.ejection.Store(nil)
}
