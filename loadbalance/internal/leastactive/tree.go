// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package leastactive finds the item with the fewest calls in flight, of
// several such by weight at random: Dubbo's least-active rule, exactly, in
// O(log n) by a tournament tree.
//
// Choosing and counting are one step under one mutex: callers that choose at
// the same moment see each other's calls and spread.
package leastactive

import (
	"math"
	"math/bits"
	"sync"
	"sync/atomic"
)

// Leaf counts the calls in flight on one item. It belongs to the caller and
// survives changes of the list. The zero Leaf is ready for use.
type Leaf[T any] struct {
	count atomic.Int64 // written under the tree's lock

	// Under the tree's lock: the place in the list, plus one; 0 outside.
	place  int
	value  T
	weight uint64
}

// Count is the number of calls in flight. It takes no lock.
func (l *Leaf[T]) Count() int64 { return l.count.Load() }

// Entry is one item of a list. A weight of 0 is never chosen; weights are at
// most 2^31-1.
type Entry[T any] struct {
	Leaf   *Leaf[T]
	Value  T
	Weight uint64
}

// Tree chooses among the items of its present list. The zero Tree is empty and
// ready for use. It is safe for concurrent use.
type Tree[T any] struct {
	mu     sync.Mutex
	leaves []*Leaf[T]
	nodes  []node // nodes[i] is the winner of nodes[2i] and nodes[2i+1]
	width  int    // leaves begin here; a power of two
}

// node is the outcome below it: the fewest calls in flight and the weight of
// all who have so few. Keeping the weight is what makes ties fair.
type node struct {
	fewest int64
	weight uint64
}

// nobody loses against everybody.
var nobody = node{fewest: math.MaxInt64}

// Reset replaces the list. Counts stay with their leaves, also of those that
// are no longer listed.
func (t *Tree[T]) Reset(entries []Entry[T]) {
	width := 1
	for width < len(entries) {
		width *= 2
	}
	nodes := make([]node, 2*width)
	leaves := make([]*Leaf[T], len(entries))
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.leaves {
		l.place = 0
	}
	for i, e := range entries {
		leaves[i] = e.Leaf
		e.Leaf.place, e.Leaf.value, e.Leaf.weight = i+1, e.Value, e.Weight
	}
	t.leaves, t.nodes, t.width = leaves, nodes, width
	for i := range width {
		nodes[width+i] = t.standing(i)
	}
	for i := width - 1; i > 0; i-- {
		nodes[i] = winner(nodes[2*i], nodes[2*i+1])
	}
}

// standing is how the item at a place enters the tournament.
func (t *Tree[T]) standing(i int) node {
	if i >= len(t.leaves) || t.leaves[i].weight == 0 {
		return nobody
	}
	return node{fewest: t.leaves[i].count.Load(), weight: t.leaves[i].weight}
}

func winner(a, b node) node {
	switch {
	case a.fewest < b.fewest:
		return a
	case b.fewest < a.fewest:
		return b
	}
	return node{fewest: a.fewest, weight: a.weight + b.weight}
}

// Acquire chooses an item, counts a call on it and returns it with its leaf,
// for Release. Items that skip reports are passed over. It is false if nobody
// is left.
func (t *Tree[T]) Acquire(source interface{ Uint64() uint64 }, skip func(T) bool) (value T, leaf *Leaf[T], ok bool) {
	r := source.Uint64()
	t.mu.Lock()
	defer t.mu.Unlock()
	if skip == nil {
		return t.acquire(r)
	}
	// Those to skip stand aside while the others choose.
	var aside []int
	for {
		i, found := t.find(r)
		if !found || !skip(t.leaves[i].value) {
			break
		}
		aside = append(aside, i)
		t.update(i, nobody)
	}
	value, leaf, ok = t.acquire(r)
	for _, i := range aside {
		t.update(i, t.standing(i))
	}
	return value, leaf, ok
}

func (t *Tree[T]) acquire(r uint64) (value T, leaf *Leaf[T], ok bool) {
	i, found := t.find(r)
	if !found {
		return value, nil, false
	}
	leaf = t.leaves[i]
	leaf.count.Add(1)
	t.update(i, t.standing(i))
	return leaf.value, leaf, true
}

// find descends to one of the best, each with the probability of its weight.
func (t *Tree[T]) find(r uint64) (place int, ok bool) {
	if len(t.nodes) == 0 || t.nodes[1].weight == 0 {
		return 0, false
	}
	best := t.nodes[1].fewest
	at, _ := bits.Mul64(r, t.nodes[1].weight)
	i := 1
	for i < t.width {
		i *= 2
		left := t.nodes[i]
		if left.fewest == best && at < left.weight {
			continue
		}
		if left.fewest == best {
			at -= left.weight
		}
		i++
	}
	return i - t.width, true
}

// update plays the matches of one place again.
func (t *Tree[T]) update(place int, standing node) {
	i := t.width + place
	t.nodes[i] = standing
	for i /= 2; i > 0; i /= 2 {
		next := winner(t.nodes[2*i], t.nodes[2*i+1])
		if next == t.nodes[i] {
			return
		}
		t.nodes[i] = next
	}
}

// AcquireLeaf counts a call that was not chosen here.
func (t *Tree[T]) AcquireLeaf(l *Leaf[T]) { t.add(l, 1) }

// Release ends a call, whether or not its item is still listed.
func (t *Tree[T]) Release(l *Leaf[T]) { t.add(l, -1) }

func (t *Tree[T]) add(l *Leaf[T], n int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l.count.Add(n)
	if l.place > 0 {
		t.update(l.place-1, t.standing(l.place-1))
	}
}
