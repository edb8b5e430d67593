// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package affinity

import (
	"hash/maphash"
	"sync"
)

// shards bound how often callers of different keys meet at a lock.
const shards = 16

// Table maps keys to items. It is safe for concurrent use. Lookups and changes
// hold the mutex of one of sixteen parts for O(1), and a lookup that finds its key
// allocates nothing. What it holds takes about 100 bytes a key besides the keys
// themselves.
type Table[T comparable] struct {
	keep  int64 // how long an item is kept from when it was given
	seed  maphash.Seed
	parts [shards]part[T]
}

// New makes a table that keeps each item for a time in the unit of the moments
// that its methods are given, and up to about so many keys.
func New[T comparable](keep int64, keys int) *Table[T] {
	t := &Table[T]{keep: keep, seed: maphash.MakeSeed()}
	for i := range t.parts {
		t.parts[i] = part[T]{most: max(1, keys/shards), places: make(map[string]int32), newest: none, oldest: none}
	}
	return t
}

func (t *Table[T]) part(key string) *part[T] {
	return &t.parts[maphash.String(t.seed, key)%shards]
}

// Get returns the item that the key was given, if it is still kept at now.
func (t *Table[T]) Get(key string, now int64) (item T, ok bool) {
	p := t.part(key)
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.get(key, now)
}

// Give gives the key an item in place of another that it had, which is the zero T
// if it had none. If the key has a third one meanwhile, by another caller, that
// stays and is returned.
func (t *Table[T]) Give(key string, instead, item T, now int64) T {
	p := t.part(key)
	p.mu.Lock()
	defer p.mu.Unlock()
	if had, ok := p.get(key, now); ok && had != instead {
		return had
	}
	p.put(key, item, now+t.keep)
	return item
}

// Len is the number of keys, those included whose time is over and that nobody
// has asked for since.
func (t *Table[T]) Len() (n int) {
	for i := range t.parts {
		p := &t.parts[i]
		p.mu.Lock()
		n += len(p.places)
		p.mu.Unlock()
	}
	return n
}

// none is no place.
const none = -1

// part is a list of entries by use in one array, found by key.
type part[T comparable] struct {
	mu             sync.Mutex
	most           int
	places         map[string]int32
	entries        []entry[T]
	newest, oldest int32
	_              [64]byte
}

type entry[T comparable] struct {
	key          string
	item         T
	until        int64
	newer, older int32
}

func (p *part[T]) get(key string, now int64) (item T, ok bool) {
	place, ok := p.places[key]
	if !ok || p.entries[place].until <= now {
		return item, false
	}
	p.unlink(place)
	p.link(place)
	return p.entries[place].item, true
}

func (p *part[T]) put(key string, item T, until int64) {
	place, had := p.places[key]
	switch {
	case had:
		p.unlink(place)
	case len(p.entries) < p.most:
		place = int32(len(p.entries))
		p.entries = append(p.entries, entry[T]{})
	default:
		place = p.oldest
		p.unlink(place)
		delete(p.places, p.entries[place].key)
	}
	if !had {
		p.places[key] = place
		p.entries[place].key = key
	}
	p.entries[place].item, p.entries[place].until = item, until
	p.link(place)
}

// link makes an entry the newest.
func (p *part[T]) link(place int32) {
	e := &p.entries[place]
	e.newer, e.older = none, p.newest
	if p.newest != none {
		p.entries[p.newest].newer = place
	}
	p.newest = place
	if p.oldest == none {
		p.oldest = place
	}
}

func (p *part[T]) unlink(place int32) {
	e := &p.entries[place]
	if e.newer == none {
		p.newest = e.older
	} else {
		p.entries[e.newer].older = e.older
	}
	if e.older == none {
		p.oldest = e.newer
	} else {
		p.entries[e.older].newer = e.newer
	}
}
