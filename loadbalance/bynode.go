// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import "sync"

// byNode is what the engine of one of several groups keeps of each node in the
// group. It is written when the list changes, and read without a lock.
type byNode[T any] struct{ all sync.Map }

// find returns what is kept of a node, nil of one that is not in the group.
func (b *byNode[T]) find(n *node) *T {
	kept, _ := b.all.Load(n)
	found, _ := kept.(*T)
	return found
}

// keep makes what is missing for a list, and gives up what is kept of others.
// Calls do not overlap.
func (b *byNode[T]) keep(list []*candidate, enter func(*node) *T, leave func(*node, *T)) {
	listed := make(map[*node]struct{}, len(list))
	for _, c := range list {
		listed[c.node] = struct{}{}
		if b.find(c.node) == nil {
			b.all.Store(c.node, enter(c.node))
		}
	}
	b.all.Range(func(n, kept any) bool {
		if _, ok := listed[n.(*node)]; !ok {
			b.all.Delete(n)
			leave(n.(*node), kept.(*T))
		}
		return true
	})
}
