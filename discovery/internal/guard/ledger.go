// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"maps"
	"slices"
	"time"
)

// Limits are what a ledger decides by.
type Limits struct {
	// Window is how long a member that vanished is counted.
	Window time.Duration
	// Share is held when more than it, of the largest set in the window, has
	// vanished; at least AtLeast members.
	Share   float64
	AtLeast int
	// Hold is how long a suspect is held at most, from when it vanished.
	Hold time.Duration
}

// Ledger is the memory of one set whose members have a key and a value.
type Ledger[T any] struct {
	limits   Limits
	sizes    peak
	vanished map[string]absent[T] // within the window, and not held
	suspects map[string]absent[T]
}

// absent is a member that vanished.
type absent[T any] struct {
	value T
	since time.Time
}

// New makes a ledger of an empty set.
func New[T any](limits Limits) *Ledger[T] {
	return &Ledger[T]{
		limits:   limits,
		vanished: make(map[string]absent[T]),
		suspects: make(map[string]absent[T]),
	}
}

// Widen makes the window at least as long as d: members that expire together
// vanish within one time to live.
func (l *Ledger[T]) Widen(d time.Duration) { l.limits.Window = max(l.limits.Window, d) }

// Returned notes that a member is there, again or for the first time. A suspect
// is released by that and returned.
func (l *Ledger[T]) Returned(key string) (suspect T, released bool) {
	delete(l.vanished, key)
	return l.Drop(key)
}

// Vanished notes that a member went without a word. One that said that it would
// go is not told of.
func (l *Ledger[T]) Vanished(now time.Time, key string, value T) {
	l.vanished[key] = absent[T]{value, now}
}

// Judge decides after changes that came together; size is the number of members
// that are there. It returns the suspects that it holds from now on, ordered by
// key: all that vanished within the window, if they and those that are held
// already are more than their share, or if nobody is left.
func (l *Ledger[T]) Judge(now time.Time, size int) (held []T) {
	l.forget(now)
	largest := l.sizes.note(now, size+len(l.suspects), l.limits.Window)
	if len(l.vanished) == 0 {
		return nil
	}
	gone := len(l.vanished) + len(l.suspects)
	tooMany := gone >= l.limits.AtLeast && float64(gone) > l.limits.Share*float64(largest)
	if !tooMany && size > 0 {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(l.vanished)) {
		held = append(held, l.vanished[key].value)
	}
	maps.Copy(l.suspects, l.vanished)
	clear(l.vanished)
	return held
}

// forget drops what vanished before the window.
func (l *Ledger[T]) forget(now time.Time) {
	maps.DeleteFunc(l.vanished, func(_ string, a absent[T]) bool {
		return now.Sub(a.since) > l.limits.Window
	})
}

// Hold makes a suspect of a member that vanished at since, as a former ledger
// held it. It reports false if its hold time is over.
func (l *Ledger[T]) Hold(now time.Time, key string, value T, since time.Time) bool {
	if since.After(now) {
		since = now // the clock was put back
	}
	if now.Sub(since) >= l.limits.Hold {
		return false
	}
	l.suspects[key] = absent[T]{value, since}
	return true
}

// Drop takes a suspect out for good and returns it, if it was one.
func (l *Ledger[T]) Drop(key string) (suspect T, held bool) {
	a, held := l.suspects[key]
	delete(l.suspects, key)
	return a.value, held
}

// Held returns the suspect under a key, if it is held.
func (l *Ledger[T]) Held(key string) (suspect T, held bool) {
	a, held := l.suspects[key]
	return a.value, held
}

// Overdue returns the suspects whose hold time is over, ordered by key.
func (l *Ledger[T]) Overdue(now time.Time) (overdue []T) {
	for _, s := range l.Suspects() {
		if now.Sub(s.Since) >= l.limits.Hold {
			overdue = append(overdue, s.Value)
		}
	}
	return overdue
}

// Suspect is a member that is held.
type Suspect[T any] struct {
	Key   string
	Value T
	Since time.Time
}

// Suspects returns who is held, ordered by key.
func (l *Ledger[T]) Suspects() []Suspect[T] {
	if len(l.suspects) == 0 {
		return nil
	}
	list := make([]Suspect[T], 0, len(l.suspects))
	for _, key := range slices.Sorted(maps.Keys(l.suspects)) {
		a := l.suspects[key]
		list = append(list, Suspect[T]{Key: key, Value: a.value, Since: a.since})
	}
	return list
}

// Len is the number of suspects.
func (l *Ledger[T]) Len() int { return len(l.suspects) }
