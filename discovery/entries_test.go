// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"pgregory.net/rapid"
)

func testEntry(t interface{ Fatal(...any) }, key, address string, revision int64, weight int) entry {
	r, err := decodeRecord(fmt.Appendf(nil, `{"address":%q,"weight":%d}`, address, weight))
	if err != nil {
		t.Fatal(err)
	}
	return entry{key: key, modified: revision, instance: newInstance(r)}
}

// TestEntriesFollowEtcd holds the incremental list against a plain map while
// random puts and deletes arrive, some of them late.
func TestEntriesFollowEtcd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var e entries
		model := map[string]entry{}
		revision := int64(1)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			key := fmt.Sprintf("k%d", rapid.IntRange(0, 9).Draw(t, "key"))
			late := rapid.Bool().Draw(t, "late")
			revision++
			at := revision
			if late {
				at = rapid.Int64Range(1, revision-1).Draw(t, "at")
			}
			old, exists := model[key]
			if rapid.Bool().Draw(t, "delete") {
				changed := e.remove(key, at)
				if applies := exists && old.modified <= at; applies {
					delete(model, key)
					if !changed {
						t.Fatal("a removal that applies is no change")
					}
				}
				continue
			}
			n := testEntry(t, key, key+":1", at, rapid.IntRange(0, 3).Draw(t, "weight"))
			e.put(n)
			if !exists || at > old.modified {
				model[key] = n
			}
		}
		keys := slices.Sorted(maps.Keys(model))
		kvs := make([]*mvccpb.KeyValue, 0, len(keys))
		for _, k := range keys {
			kvs = append(kvs, &mvccpb.KeyValue{Key: []byte(k), ModRevision: model[k].modified})
		}
		same := slices.EqualFunc(e, kvs, func(a entry, kv *mvccpb.KeyValue) bool { return a.is(kv) })
		if !same {
			t.Fatalf("entries %v, want %v", e, kvs)
		}
		for i, instance := range e.instances() {
			if !instance.same(model[keys[i]].instance) {
				t.Fatalf("instance %d is %v, want %v", i, instance, model[keys[i]].instance)
			}
		}
	})
}

func TestOneAddressUnderTwoKeysCountsOnce(t *testing.T) {
	e := entries{testEntry(t, "a", "host:1", 7, 1), testEntry(t, "b", "host:1", 9, 2), testEntry(t, "c", "host:1", 8, 3)}
	for i := range e {
		e[i].odd = true
	}
	got := e.instances()
	if len(got) != 1 || got[0].Weight() != 2 {
		t.Errorf("got %d instances, the first of weight %d; want the one written last, of weight 2", len(got), got[0].Weight())
	}
}

func TestChangeThatNobodyCanSeeIsNone(t *testing.T) {
	e := entries{testEntry(t, "a", "host:1", 7, 1)}
	if e.put(testEntry(t, "a", "host:1", 8, 1)) {
		t.Error("the same record at a later revision was called a change")
	}
	if !e.put(testEntry(t, "a", "host:1", 9, 2)) {
		t.Error("another weight was called no change")
	}
}
