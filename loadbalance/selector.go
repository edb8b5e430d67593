// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"fmt"
	"slices"
	"sync"

	"github.com/fairway-rpc/fairway/internal/fault"
	"github.com/fairway-rpc/fairway/internal/live"
)

// Selector selects among items of any kind by one of the policies, without
// Kitex: connections, shards, workers.
//
// All methods are safe for concurrent use. A change is seen by the next Select,
// takes O(n), and never makes a Select wait, but for the policies that hold a
// mutex.
type Selector[T any] struct {
	service *service

	mu    sync.Mutex // of changes
	nodes []*live.Node
}

// NewSelector makes a selector without items, of a policy that is among
// [Policies]. Errors wrap [ErrInvalidConfig] and, for an unknown name,
// [ErrUnknownPolicy]. The key is an argument of [Selector.Select]: [WithKey] and
// [WithHash] are ignored.
func NewSelector[T any](policy string, opts ...Option) (*Selector[T], error) {
	p, err := findPolicy(policy)
	if err != nil {
		return nil, err
	}
	cfg, err := newConfig(append(slices.Clone(opts), WithHash(ownHash())))
	if err != nil {
		return nil, err
	}
	return &Selector[T]{service: newLocalService(newCore(p, cfg))}, nil
}

// Add adds an item under an ID, which hashing policies place it by. Weights are 0
// to 2^31-1; an item of weight 0 is never selected. An ID that is empty and a
// weight out of bounds are refused with an error that wraps [ErrInvalidConfig],
// an ID that is there already with one that wraps [ErrDuplicate].
func (s *Selector[T]) Add(id string, item T, weight int) error {
	if id == "" {
		return fault.Invalid("Add", "an item needs an ID")
	}
	if err := checkWeight("Add", weight); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at(id) >= 0 {
		return fmt.Errorf("%w: %q; use SetWeight to change its weight", ErrDuplicate, id)
	}
	s.show(append(slices.Clip(s.nodes), nodeOf(&selectable[T]{id: id, value: item, weight: weight})))
	return nil
}

// Remove removes an item. Calls under way on it may still be ended. The error
// about an ID that is not there wraps [ErrNotFound].
func (s *Selector[T]) Remove(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.at(id)
	if at < 0 {
		return fmt.Errorf("%w: %q", ErrNotFound, id)
	}
	s.show(slices.Concat(s.nodes[:at], s.nodes[at+1:]))
	return nil
}

// SetWeight changes the weight of an item; what has been learnt of it stays.
// Errors are those of Add and Remove.
func (s *Selector[T]) SetWeight(id string, weight int) error {
	if err := checkWeight("SetWeight", weight); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.at(id)
	if at < 0 {
		return fmt.Errorf("%w: %q", ErrNotFound, id)
	}
	changed := *itemOf[T](s.nodes[at])
	changed.weight = weight
	nodes := slices.Clone(s.nodes)
	nodes[at] = nodeOf(&changed)
	s.show(nodes)
	return nil
}

// List returns the items in the order in which they were added.
func (s *Selector[T]) List() []Selectable[T] {
	t := s.service.table.Load()
	list := make([]Selectable[T], len(t.list))
	for i, c := range t.list {
		item := c.instance.(*selectable[T])
		list[i] = Selectable[T]{ID: item.id, Item: item.value, Weight: item.weight, InFlight: c.node.active()}
	}
	return list
}

// Select selects an item. The key is for policies that hash; it must not be empty
// for [ConsistentHash] and [BoundedHash] (ErrNoKey), and for [SourceHash] names
// the caller. Without items the error is [ErrEmpty], with none that has a weight
// [ErrAllDrained].
//
// Done must be ended when the item is not in use any more, for policies that
// count. Select allocates nothing.
func (s *Selector[T]) Select(key string) (item T, done Done, err error) {
	c, err := s.service.selectBy(key)
	if err != nil {
		return item, Done{}, err
	}
	return c.instance.(*selectable[T]).value, Done{node: c.node}, nil
}

// Done ends the use of an item that was selected. Its zero value does nothing.
type Done struct{ node *node }

// End ends it. It must be called once.
func (d Done) End() {
	if d.node != nil {
		d.node.End()
	}
}

// at is the place of an ID. Callers hold mu.
func (s *Selector[T]) at(id string) int {
	return slices.IndexFunc(s.nodes, func(n *live.Node) bool { return n.Address == id })
}

// show has selections made from the nodes. Callers hold mu.
func (s *Selector[T]) show(nodes []*live.Node) {
	s.nodes = nodes
	s.service.show(nodes)
}
