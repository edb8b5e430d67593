// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

// appeared drops the suspects of other services at the addresses of instances
// that have registered: a port is reused.
func (r *Resolver) appeared(in *feed, instances []*Instance) {
	at := make(map[address]*Instance, len(instances))
	for _, i := range instances {
		at[addressID(i.addr)] = i
	}
	for _, f := range r.all() {
		if f != in {
			f.dropMoved(at)
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
