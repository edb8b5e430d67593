// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package leastactive

import "sync"

// Source gives uniformly random numbers. It must be safe for concurrent use if
// the tree is used so.
type Source = interface{ Uint64() uint64 }

// Tree chooses among the items of its present list. The zero Tree is empty and
// ready for use. It is safe for concurrent use; Acquire, AcquireLeaf and Release
// hold its mutex for O(log n) and allocate nothing.
type Tree[T any] struct {
	mu     sync.Mutex
	leaves []*Leaf[T]
	play   tournament
	aside  []int // room for those who are passed over
}

// Reset replaces the list, in O(n). Leaves keep their counts, also those that
// are no longer listed. If a leaf is listed twice, the last entry counts.
func (t *Tree[T]) Reset(entries []Entry[T]) {
	leaves := make([]*Leaf[T], len(entries))
	for i, e := range entries {
		leaves[i] = e.Leaf
	}
	play := newTournament(len(entries))
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.leaves {
		l.leave()
	}
	t.leaves, t.play = leaves, play
	for i, e := range entries {
		e.Leaf.enter(i+1, e)
	}
	for i := range leaves {
		t.play.place(i, t.standing(i))
	}
	t.play.play()
}

// standing is how an item enters the tournament.
func (t *Tree[T]) standing(i int) node {
	l := t.leaves[i]
	if l.weight == 0 || l.place != i+1 {
		return nobody
	}
	return node{cost: l.cost(), weight: l.weight}
}

// Acquire chooses an item, counts a call on it and returns it with its leaf,
// for Release. It is false if nobody can be chosen.
//
// Items that skip reports are passed over, and the choice among the others is
// as if those were not listed; skip is called with the lock held. A nil skip
// passes over nobody. One random number is drawn, and one more for each item
// that is passed over.
func (t *Tree[T]) Acquire(source Source, skip func(T) bool) (value T, leaf *Leaf[T], ok bool) {
	r := source.Uint64()
	if skip != nil {
		return t.acquireOther(r, source, skip)
	}
	t.mu.Lock() // here and below not deferred, since nothing foreign is called
	i, ok := t.play.find(r)
	if ok {
		leaf = t.leaves[i]
		t.count(leaf, 1)
		value = leaf.value
	}
	t.mu.Unlock()
	return value, leaf, ok
}

// acquireOther draws until it finds somebody not to pass over; those who are
// stand aside meanwhile. A new number for each draw keeps it fair: the old one
// would favour the neighbours of the one who stood aside.
func (t *Tree[T]) acquireOther(r uint64, source Source, skip func(T) bool) (value T, leaf *Leaf[T], ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.comeBack()
	for {
		i, found := t.play.find(r)
		if !found {
			return value, nil, false
		}
		leaf = t.leaves[i]
		if !skip(leaf.value) {
			t.count(leaf, 1)
			return leaf.value, leaf, true
		}
		t.aside = append(t.aside, i)
		t.play.set(i, nobody)
		r = source.Uint64()
	}
}

// comeBack lets those who stood aside play again.
func (t *Tree[T]) comeBack() {
	for _, i := range t.aside {
		t.play.set(i, t.standing(i))
	}
	t.aside = t.aside[:0]
}

// AcquireLeaf counts a call that was not chosen here, whether or not the item is
// listed.
func (t *Tree[T]) AcquireLeaf(l *Leaf[T]) {
	t.mu.Lock()
	t.count(l, 1)
	t.mu.Unlock()
}

// Release ends a call, whether or not its item is still listed. With none in
// flight it does nothing.
func (t *Tree[T]) Release(l *Leaf[T]) {
	t.mu.Lock()
	t.count(l, -1)
	t.mu.Unlock()
}

// Refresh takes account of a number of calls that was changed elsewhere. Of
// several refreshes the last sees the latest number.
func (t *Tree[T]) Refresh(l *Leaf[T]) {
	t.mu.Lock()
	t.count(l, 0)
	t.mu.Unlock()
}

// Slow says how slow the item is, whether or not it is listed: the cost of a call
// on it is multiplied by that from now on. 0 means 1.
func (t *Tree[T]) Slow(l *Leaf[T], slowness float64) {
	t.mu.Lock()
	l.slowness = slowness
	t.count(l, 0)
	t.mu.Unlock()
}

func (t *Tree[T]) count(l *Leaf[T], n int64) {
	if n != 0 {
		l.add(n)
	}
	if l.place > 0 {
		t.play.set(l.place-1, t.standing(l.place-1))
	}
}
