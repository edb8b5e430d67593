// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
)

// entry is one key of a service. An unreadable record has no instance but
// keeps its place, so that a comparison of keys with etcd still comes out even.
type entry struct {
	key      string
	modified int64
	value    []byte
	instance *Instance
}

// entries are a service's keys in etcd's order.
type entries []entry

func (e *entries) find(key string) (int, bool) {
	return slices.BinarySearchFunc(*e, key, func(a entry, key string) int {
		return strings.Compare(a.key, key)
	})
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

// instances are the readable ones, each address once: of two keys with one
// address the later written counts.
func (e *entries) instances() []*Instance {
	list := make([]*Instance, 0, len(*e))
	at := make(map[string]int, len(*e))
	newest := make([]int64, 0, len(*e))
	for _, entry := range *e {
		instance := entry.instance
		if instance == nil {
			continue
		}
		id := instance.addr.Network() + "|" + instance.addr.String()
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

// unreadable counts the keys whose records cannot be used.
func (e *entries) unreadable() int {
	n := 0
	for _, entry := range *e {
		if entry.instance == nil {
			n++
		}
	}
	return n
}

// matches compares keys and modification revisions with a fresh keys-only list.
func (e *entries) matches(kvs []*mvccpb.KeyValue) bool {
	return slices.EqualFunc(*e, kvs, func(a entry, kv *mvccpb.KeyValue) bool {
		return a.key == string(kv.Key) && a.modified == kv.ModRevision
	})
}
