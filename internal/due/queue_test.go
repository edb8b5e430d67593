// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package due

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

type job struct {
	name int
	item Item
}

// TestQueueIsASortedList, whatever comes and goes in between.
func TestQueueIsASortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := Queue[*job]{Of: func(j *job) *Item { return &j.item }}
		var model []*job
		for name := range rapid.IntRange(1, 30).Draw(t, "jobs") {
			j := &job{name: name, item: Item{At: time.Unix(rapid.Int64Range(0, 20).Draw(t, "at"), int64(name))}}
			q.Add(j)
			model = append(model, j)
			if rapid.IntRange(0, 3).Draw(t, "removes") == 0 {
				at := rapid.IntRange(0, len(model)-1).Draw(t, "which")
				q.Remove(model[at])
				q.Remove(model[at]) // it is out already
				if model[at].item.Waits() {
					t.Fatal("it waits after it was removed")
				}
				model = slices.Delete(model, at, at+1)
			}
		}
		slices.SortFunc(model, func(a, b *job) int { return a.item.At.Compare(b.item.At) })
		for _, want := range model {
			if first := q.First(); first != want || q.TakeFirst() != want || want.item.Waits() {
				t.Fatalf("job %d came, want %d", first.name, want.name)
			}
		}
		if q.Len() != 0 {
			t.Fatalf("%d are left", q.Len())
		}
	})
}
