// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"net"

	"github.com/fairway-rpc/fairway/discovery/internal/guard"
	"github.com/fairway-rpc/fairway/internal/live"
)

// Why a suspect is dropped, as log and metrics say it.
const (
	dropProbes  = "probes failed"
	dropCalls   = "calls failed"
	dropOverdue = "hold time over"
	dropMoved   = "address is another provider's"
)

// suspect is an instance that vanished from etcd without a word and that is
// offered to callers all the same.
type suspect struct {
	entry entry // as etcd had it last, with its instance marked
	calls *live.Suspect
	stop  func() // ends the probes
}

func newSuspect(e entry) *suspect {
	marked := *e.instance
	marked.suspect = true
	e.instance = &marked
	return &suspect{entry: e, stop: func() {}}
}

// custody is the guard of one service: whom it holds, and what became of those
// whom it held.
type custody struct {
	ledger    *guard.Ledger[*suspect]
	byAddress map[address]*suspect

	held     int64
	returned int64
	dropped  map[string]int64 // by reason
}

func newCustody(g Guard) *custody {
	return &custody{
		ledger:    guard.New[*suspect](g.limits()),
		byAddress: make(map[address]*suspect),
		dropped:   make(map[string]int64),
	}
}

func (c *custody) len() int { return c.ledger.Len() }

func (c *custody) all() []*suspect {
	held := c.ledger.Suspects()
	list := make([]*suspect, len(held))
	for i, s := range held {
		list[i] = s.Value
	}
	return list
}

// add takes s into custody, in the place of one with the same address.
func (c *custody) add(s *suspect) (replaced *suspect) {
	id := addressID(s.entry.instance.addr)
	replaced = c.byAddress[id]
	if replaced != nil {
		c.ledger.Drop(replaced.entry.key)
	}
	c.byAddress[id] = s
	return replaced
}

// at is the suspect at an address, nil if there is none.
func (c *custody) at(addr net.Addr) *suspect {
	if len(c.byAddress) == 0 {
		return nil
	}
	return c.byAddress[addressID(addr)]
}

// back removes and returns the suspect that the entry shows to be registered
// again, be it under another key: old providers write some addresses otherwise.
func (c *custody) back(e entry) *suspect {
	s, held := c.ledger.Returned(e.key)
	if !held {
		s = c.at(e.instance.addr)
	}
	if s != nil {
		delete(c.byAddress, addressID(s.entry.instance.addr))
		c.ledger.Drop(s.entry.key)
	}
	return s
}

// drop reports whether s was still held.
func (c *custody) drop(s *suspect) bool {
	id := addressID(s.entry.instance.addr)
	if c.byAddress[id] != s {
		return false
	}
	delete(c.byAddress, id)
	c.ledger.Drop(s.entry.key)
	return true
}

// address is what two keys of one provider have in common.
type address struct{ network, address string }

func addressID(addr net.Addr) address { return address{addr.Network(), addr.String()} }
