// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"net"
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
)

// entry is one key of a service: an instance or a rule. An unreadable one is
// neither but keeps its place, so that a comparison of keys with etcd still
// comes out even.
type entry struct {
	key      string
	modified int64
	lease    int64 // 0 from a disk copy
	value    []byte
	instance *Instance
	rule     *Rule
	deleted  bool // in an event: the key is gone
	odd      bool // the key is not what its address makes it
}

func (e *entry) readable() bool { return e.instance != nil || e.rule != nil }

// is reports whether the entry is what etcd says of the key, but for its lease,
// which etcd 3.7 leaves out where only keys are asked for.
func (e *entry) is(kv *mvccpb.KeyValue) bool {
	return e.key == string(kv.Key) && e.modified == kv.ModRevision
}

// entries are the keys of a span in etcd's order.
type entries []entry

func (e *entries) find(key string) (int, bool) {
	return slices.BinarySearchFunc(*e, key, func(a entry, key string) int {
		return strings.Compare(a.key, key)
	})
}

// get returns what is stored under the key; an entry without a key if nothing.
func (e *entries) get(key string) entry {
	if at, found := e.find(key); found {
		return (*e)[at]
	}
	return entry{}
}

// among is a new list of the keys and the suspects, who are ordered too. An
// unreadable record under a suspect's key does not replace it.
func (e *entries) among(held []*suspect) entries {
	all, rest := make(entries, 0, len(*e)+len(held)), *e
	for _, s := range held {
		at, found := rest.find(s.entry.key)
		all = append(append(all, rest[:at]...), s.entry)
		if found {
			at++
		}
		rest = rest[at:]
	}
	return append(all, rest...)
}

// put stores the key; it is ignored when what is stored is as new.
func (e *entries) put(n entry) (changed bool) {
	at, found := e.find(n.key)
	if !found {
		*e = slices.Insert(*e, at, n)
		return true
	}
	old := &(*e)[at]
	if n.modified <= old.modified {
		return false
	}
	changed = old.instance == nil || n.instance == nil || !old.instance.same(n.instance)
	if !changed {
		n.instance = old.instance // so that what hangs on it stays
	}
	*old = n
	return changed
}

// remove drops the key, unless what is stored is newer than the removal.
func (e *entries) remove(key string, revision int64) (changed bool) {
	at, found := e.find(key)
	if !found || (*e)[at].modified > revision {
		return false
	}
	*e = slices.Delete(*e, at, at+1)
	return true
}

// instances are the readable ones, each address once.
func (e *entries) instances() []*Instance {
	list := make([]*Instance, 0, len(*e))
	odd := false
	for i := range *e {
		if one := (*e)[i].instance; one != nil {
			list = append(list, one)
			odd = odd || (*e)[i].odd
		}
	}
	if odd {
		return e.distinct()
	}
	return list
}

// lists reports whether an instance with the address is among them.
func (e *entries) lists(addr net.Addr) bool {
	for i := range *e {
		if one := (*e)[i].instance; one != nil && addressID(one.addr) == addressID(addr) {
			return true
		}
	}
	return false
}

// distinct counts, of two keys with one address, the later written. Only keys
// that others have written otherwise than we would can be such.
func (e *entries) distinct() []*Instance {
	list := make([]*Instance, 0, len(*e))
	at := make(map[address]int, len(*e))
	newest := make([]int64, 0, len(*e))
	for _, entry := range *e {
		instance := entry.instance
		if instance == nil {
			continue
		}
		id := addressID(instance.addr)
		if j, twice := at[id]; twice {
			if entry.modified > newest[j] {
				list[j], newest[j] = instance, entry.modified
			}
			continue
		}
		at[id] = len(list)
		list = append(list, instance)
		newest = append(newest, entry.modified)
	}
	return list
}

// unreadable counts the keys that cannot be used.
func (e *entries) unreadable() int {
	n := 0
	for i := range *e {
		if !(*e)[i].readable() {
			n++
		}
	}
	return n
}

// has reports whether the key is there as etcd says, lease included.
func (e *entries) has(kv *mvccpb.KeyValue) bool {
	at, found := e.find(string(kv.Key))
	return found && (*e)[at].is(kv) && (*e)[at].lease == kv.Lease
}

// leased returns an entry that has a lease, false if none has.
func (e *entries) leased() (entry, bool) {
	for i := range *e {
		if (*e)[i].lease != 0 {
			return (*e)[i], true
		}
	}
	return entry{}, false
}

// newest is the revision of the key that was written last.
func (e *entries) newest() int64 {
	newest := int64(0)
	for i := range *e {
		newest = max(newest, (*e)[i].modified)
	}
	return newest
}
