// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

// wish is what the program has asked for one service, beyond what it gave to
// Register. It outlives registrations and is there before the first.
type wish struct {
	weight  *int64             // of SetWeight
	sourced *int64             // of the weight source
	tags    *map[string]string // of SetTags
	unready bool               // of SetReady
}

// over is the record that the program wants instead of the base, of which it
// leaves the identity alone. Drained applies to the whole registry, as unready does to
// the service.
func (w wish) over(base *record, drained bool) *record {
	r := *base
	switch {
	case w.weight != nil:
		r.Weight = w.weight
	case w.sourced != nil:
		r.Weight = w.sourced
	}
	if w.tags != nil {
		r.Tags = *w.tags
	}
	r.State = StateServing
	if drained || w.unready {
		r.State = StateDraining
	}
	return &r
}

// target is what etcd is to hold for one registration. It is never changed,
// only replaced.
type target struct {
	key     string
	record  *record
	hidden  bool   // the key is to be absent
	version uint64 // grows with each wish, whether or not it changes anything
}

// state is what a registration is in once etcd agrees.
func (t target) state() RegistrationState {
	switch {
	case t.hidden:
		return Hidden
	case t.record.State == StateDraining:
		return Draining
	}
	return Registered
}
