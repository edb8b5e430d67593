// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"math"
	"net"

	"github.com/fairway-rpc/fairway/internal/fault"
	"github.com/fairway-rpc/fairway/internal/live"
)

// Selectable is what a [Selector] says of an item.
type Selectable[T any] struct {
	ID       string
	Item     T
	Weight   int
	InFlight int64 // selected and not yet ended
}

// selectable is an item as the policies see it. Its ID is its address.
type selectable[T any] struct {
	id     string
	value  T
	weight int
}

func (s *selectable[T]) Address() net.Addr         { return itemAddress(s.id) }
func (s *selectable[T]) Weight() int               { return s.weight }
func (s *selectable[T]) Tag(string) (string, bool) { return "", false }

type itemAddress string

func (a itemAddress) Network() string { return "item" }
func (a itemAddress) String() string  { return string(a) }

func nodeOf[T any](item *selectable[T]) *live.Node {
	return &live.Node{Instance: item, Address: item.id, Weight: item.weight, Serving: true}
}

func itemOf[T any](n *live.Node) *selectable[T] { return n.Instance.(*selectable[T]) }

func checkWeight(where string, weight int) error {
	if weight < 0 || weight > math.MaxInt32 {
		return fault.Invalid(where, "a weight of %d is not between 0 and %d", weight, math.MaxInt32)
	}
	return nil
}
