// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import "net"

// appeared drops the suspects of other services at the address of an instance
// that has registered: a port is reused.
func (r *Resolver) appeared(in *feed, i *Instance) {
	for _, f := range r.all() {
		if f == in {
			continue
		}
		if s := f.suspectAt(i.addr); s != nil && !oneProcess(s.entry.instance.id, i.id) {
			f.dropMoved(i.addr)
		}
	}
}

// claimed drops the suspects of a feed whose addresses are registered under
// other services.
func (r *Resolver) claimed(by *feed, held []*suspect) {
	if len(held) == 0 {
		return
	}
	at := make(map[address]*suspect, len(held))
	for _, s := range held {
		at[addressID(s.entry.instance.addr)] = s
	}
	for _, f := range r.all() {
		if f == by {
			continue
		}
		for _, s := range f.rivals(at) {
			by.drop(s, dropMoved)
		}
	}
}

func (f *feed) suspectAt(addr net.Addr) *suspect {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.guard.at(addr)
}

// rivals are the suspects at whose addresses other providers are registered
// here.
func (f *feed) rivals(at map[address]*suspect) (rivals []*suspect) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for n := range f.instances.entries {
		i := f.instances.entries[n].instance
		if i == nil {
			continue
		}
		if s := at[addressID(i.addr)]; s != nil && !oneProcess(s.entry.instance.id, i.id) {
			rivals = append(rivals, s)
		}
	}
	return rivals
}
