// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package outlier

import (
	"cmp"
	"slices"
)

// Detector judges the hosts of one service. Its methods may not be called
// concurrently with each other; calls are recorded meanwhile.
type Detector struct {
	cfg      Config
	compared bool  // at least once
	last     int64 // when hosts were compared last

	// Kept between sweeps, so that one that changes nothing allocates nothing.
	changes  []Change
	suspects []suspect
	held     []int
	compare  comparison
}

// New returns a detector. Check must have passed cfg.
func New(cfg Config) *Detector { return &Detector{cfg: cfg} }

// NewRecord returns the record of a host that is not ejected and has had no call.
func (d *Detector) NewRecord() *Record { return &Record{limit: int64(d.cfg.ConsecutiveFailures)} }

// Change is what a sweep did to a host: it was ejected, or it came back.
type Change struct {
	// Index is that of its record in the list that was swept.
	Index int
	// Returned is true for a host that came back.
	Returned bool
	// Early tells that it did so before its time, as others have left and a greater
	// share than MaxShare would have been ejected.
	Early bool
	// Ejection is the one that began or ended.
	Ejection Ejection
}

// Sweep ejects and brings back. It is given all hosts of the service that could get
// calls, ejected ones too. It may be called at any time: hosts that came to the limit
// of consecutive failures are ejected by every sweep, the others once an interval.
//
// It returns what it changed, which is valid until the next sweep, and when it wants
// to be called next: when hosts are to be compared or one is to return. It takes
// O(n log n).
func (d *Detector) Sweep(now int64, records []*Record) (changes []Change, next int64) {
	d.changes, d.suspects = d.changes[:0], d.suspects[:0]
	allowed := d.allowed(len(records))
	ejected := d.release(now, records, allowed)

	d.suspectFailing(records)
	full := !d.compared || now-d.last >= int64(d.cfg.Interval)
	if full {
		d.suspectOutliers(records)
	}
	d.ejectWorst(now, records, allowed-ejected)
	if full {
		d.compared, d.last = true, now
		d.closeInterval(now, records)
	}
	return d.changes, d.next(records)
}

// allowed is how many of n hosts may be ejected. What is added undoes the rounding
// in products such as 0.29 x 100.
func (d *Detector) allowed(n int) int { return int(d.cfg.MaxShare*float64(n) + 1e-9) }

// release brings back whose time is over, then those whose time ends soonest while
// too many are ejected. It returns how many still are.
func (d *Detector) release(now int64, records []*Record, allowed int) (ejected int) {
	d.held = d.held[:0]
	for i, r := range records {
		switch e := r.ejection.Load(); {
		case e == nil:
		case now >= e.Until:
			d.comeBack(now, i, r, false)
		default:
			d.held = append(d.held, i)
		}
	}
	surplus := len(d.held) - allowed
	if surplus <= 0 {
		return len(d.held)
	}
	slices.SortFunc(d.held, func(a, b int) int {
		return cmp.Compare(records[a].ejection.Load().Until, records[b].ejection.Load().Until)
	})
	for _, i := range d.held[:surplus] {
		d.comeBack(now, i, records[i], true)
	}
	return allowed
}

func (d *Detector) comeBack(now int64, index int, r *Record, early bool) {
	d.changes = append(d.changes, Change{Index: index, Returned: true, Early: early, Ejection: *r.ejection.Load()})
	r.comeBack(now, now+d.forgiveness())
}

// ejectWorst ejects at most so many of the suspects.
func (d *Detector) ejectWorst(now int64, records []*Record, most int) {
	slices.SortFunc(d.suspects, worstFirst)
	for i, s := range d.suspects {
		r := records[s.index]
		r.suspected = false
		if i >= most {
			continue
		}
		e := d.ejection(now, r, s)
		r.eject(e)
		d.changes = append(d.changes, Change{Index: s.index, Ejection: *e})
	}
}

func (d *Detector) ejection(now int64, r *Record, s suspect) *Ejection {
	base, longest := int64(d.cfg.BaseTime), int64(d.cfg.MaxTime)
	multiplier := min(r.multiplier+1, int((longest-1)/base)+1)
	until := now + min(base*int64(multiplier), longest)
	return &Ejection{Cause: s.cause, Since: now, Until: until, Multiplier: multiplier, Value: s.value, Peers: s.peers}
}

// closeInterval notes the totals of the hosts that are not ejected and forgives
// those that have not been for long.
func (d *Detector) closeInterval(now int64, records []*Record) {
	for _, r := range records {
		if r.Ejected() {
			continue
		}
		r.past.add(r.counters.totals())
		if r.multiplier > 0 && now >= r.forgive {
			r.multiplier--
			r.forgive = now + d.forgiveness()
		}
	}
}

// forgiveness is how long a host must not have been ejected for its multiplier to
// fall by one: as long as hosts are looked back upon, or one with few calls would be
// forgiven before it is judged. With the default interval it is A50's ten seconds.
func (d *Detector) forgiveness() int64 { return kept * int64(d.cfg.Interval) }

func (d *Detector) next(records []*Record) int64 {
	next := d.last + int64(d.cfg.Interval)
	for _, r := range records {
		if e := r.ejection.Load(); e != nil {
			next = min(next, e.Until)
		}
	}
	return next
}
