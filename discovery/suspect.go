// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"net"
	"slices"
	"strings"
	"time"

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

// all is who is held, in the order of their keys.
func (c *custody) all() []*suspect {
	held := c.ledger.Suspects()
	list := make([]*suspect, len(held))
	for i, s := range held {
		list[i] = s.Value
	}
	slices.SortFunc(list, func(a, b *suspect) int { return strings.Compare(a.entry.key, b.entry.key) })
	return list
}

// add takes s into custody, in the place of one with the same address.
func (c *custody) add(s *suspect) (replaced *suspect) {
	id := addressID(s.entry.instance.addr)
	replaced = c.byAddress[id]
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

// vanished notes that the entry's instance is not in etcd any more. The ledger
// goes by addresses, not by keys: old providers write some addresses otherwise.
func (c *custody) vanished(now time.Time, e entry) {
	c.ledger.Vanished(now, addressID(e.instance.addr).String(), newSuspect(e))
}

// released notes that an instance is registered, and removes and returns the
// suspect that it was.
func (c *custody) released(i *Instance) *suspect {
	id := addressID(i.addr)
	s, held := c.ledger.Returned(id.String())
	if !held {
		return nil
	}
	delete(c.byAddress, id)
	return s
}

// again makes a suspect of one that a former process held. It reports false if
// its hold time is over.
func (c *custody) again(now time.Time, s *suspect, since time.Time) bool {
	return c.ledger.Hold(now, addressID(s.entry.instance.addr).String(), s, since)
}

// drop reports whether s was still held.
func (c *custody) drop(s *suspect) bool {
	id := addressID(s.entry.instance.addr)
	if c.byAddress[id] != s {
		return false
	}
	delete(c.byAddress, id)
	c.ledger.Drop(id.String())
	return true
}

// address is what two keys of one provider have in common.
type address struct{ network, address string }

func (a address) String() string { return a.network + " " + a.address }

func addressID(addr net.Addr) address { return address{addr.Network(), addr.String()} }
