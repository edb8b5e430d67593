// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import "sync/atomic"

// boundedSeat is a node's part of the total of one of several groups. Nodes come
// with calls under way and leave with them, so that a total of beginnings and ends
// would drift: the part follows the node's own count instead, and is 0 once it has
// left.
type boundedSeat struct {
	part atomic.Int64 // that the total has
	left atomic.Bool
}

func (b *boundedSeat) due(n *node) int64 {
	if b.left.Load() {
		return 0
	}
	return n.inFlight.Load()
}

// follow makes the part what is due. It is exact once nobody is at it: whoever
// changes the part looks again, and whoever changes what is due comes here.
func (e *boundedHash) follow(n *node, seat *boundedSeat) {
	for {
		due, part := seat.due(n), seat.part.Load()
		if due == part {
			return
		}
		if seat.part.CompareAndSwap(part, due) {
			e.total.Add(due - part)
		}
	}
}

// apart has the engine keep parts of its total: there are other groups.
func (e *boundedHash) apart() { e.seats = &byNode[boundedSeat]{} }

// seat gives the nodes of a list their parts. They count for the group already, so
// that a call which begins or ends meanwhile is seen here or comes to follow.
func (e *boundedHash) seat(list []*candidate) {
	e.seats.keep(list, func(*node) *boundedSeat { return &boundedSeat{} }, func(n *node, seat *boundedSeat) {
		seat.left.Store(true)
		e.follow(n, seat)
	})
	for _, c := range list {
		e.counted(c.node, 0)
	}
}

// chosen turns the call that choose has put into the total beforehand into one of
// the node's part.
func (e *boundedHash) chosen(n *node) {
	if e.seats == nil {
		return
	}
	seat := e.seats.find(n)
	if seat == nil { // it has left
		e.total.Add(-1)
		return
	}
	seat.part.Add(1)
	e.follow(n, seat)
}

func (e *boundedHash) counted(n *node, more int64) {
	if e.seats == nil {
		e.total.Add(more)
	} else if seat := e.seats.find(n); seat != nil {
		e.follow(n, seat)
	}
}
