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

// claimed drops a suspect whose address is registered under another service.
func (r *Resolver) claimed(by *feed, s *suspect) {
	for _, f := range r.all() {
		if f == by {
			continue
		}
		if i := f.instanceAt(s.entry.instance.addr); i != nil && !oneProcess(s.entry.instance.id, i.id) {
			by.drop(s, dropMoved)
			return
		}
	}
}

func (f *feed) suspectAt(addr net.Addr) *suspect {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.guard.at(addr)
}

// instanceAt is the registered instance at an address, nil if there is none.
func (f *feed) instanceAt(addr net.Addr) *Instance {
	f.mu.Lock()
	defer f.mu.Unlock()
	for n := range f.instances.entries {
		if i := f.instances.entries[n].instance; i != nil && sameAddress(i.addr, addr) {
			return i
		}
	}
	return nil
}

func sameAddress(a, b net.Addr) bool {
	return a.Network() == b.Network() && a.String() == b.String()
}
