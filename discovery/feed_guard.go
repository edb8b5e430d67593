// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"time"

	"github.com/fairway-rpc/fairway/internal/live"
)

// gone tells the guard of a key that is no longer in etcd. An instance that said
// that it would leave is let go, and one that has another key is still there.
// Callers hold f.mu.
func (f *feed) gone(old entry) {
	if f.cfg.guard.Off || old.instance == nil || old.instance.state == StateLeaving {
		return
	}
	if f.instances.entries.lists(old.instance.addr) {
		return
	}
	f.guard.ledger.Widen(old.instance.ttl)
	f.guard.vanished(time.Now(), old)
}

// registeredAgain releases the suspects among instances that are registered, and
// has other services' suspects at their addresses dropped. It reports whether
// anybody was released. Callers hold f.mu.
func (f *feed) registeredAgain(instances []*Instance) (released bool) {
	for _, i := range instances {
		if s := f.guard.released(i); s != nil {
			released = true
			f.guard.returned++
			f.release(s, "suspect registered again")
		}
	}
	if len(instances) > 0 && f.resolver.suspects.Load() > 0 {
		f.later(func() { f.resolver.appeared(f, instances) })
	}
	return released
}

// judge has the guard decide after changes, and begins to watch over those whom
// it holds from now on. Callers hold f.mu.
func (f *feed) judge(now time.Time) {
	registered := f.registered()
	held := f.guard.ledger.Judge(now, registered)
	if len(held) == 0 {
		return
	}
	for _, s := range held {
		f.hold(s)
	}
	f.guard.held += int64(len(held))
	f.later(func() {
		f.resolver.claimed(f, held)
		f.cfg.log.Warn("instances vanished from etcd without a word; held as suspects while they answer",
			"service", f.service, "held", len(held), "registered", registered)
	})
}

// registered is the number of instances that are in etcd. Callers hold f.mu.
func (f *feed) registered() int {
	return len(f.instances.entries) - f.instances.entries.unreadable()
}

// hold probes a suspect and listens for its calls. Callers hold f.mu.
func (f *feed) hold(s *suspect) {
	if replaced := f.guard.add(s); replaced != nil {
		f.release(replaced, "suspect replaced by another with its address")
	}
	f.resolver.suspects.Add(1)
	addr := s.entry.instance.addr
	s.calls = live.NewSuspect(func() { f.drop(s, dropCalls) })
	s.stop = f.resolver.prober.Start(addr.Network(), addr.String(), func() { f.drop(s, dropProbes) })
}

// drop takes a suspect out for good.
func (f *feed) drop(s *suspect, why string) {
	f.mu.Lock()
	defer f.unlock()
	if !f.ended {
		f.dropAll([]*suspect{s}, why)
	}
}

// dropAll takes those out who are still held. Callers hold f.mu.
func (f *feed) dropAll(suspects []*suspect, why string) {
	dropped := 0
	for _, s := range suspects {
		if f.dropHeld(s, why) {
			dropped++
		}
	}
	if dropped > 0 {
		f.publish()
		f.save()
	}
}

// dropHeld does it for one that is still held. Callers hold f.mu.
func (f *feed) dropHeld(s *suspect, why string) bool {
	if !f.guard.drop(s) {
		return false
	}
	f.guard.dropped[why]++
	f.release(s, "suspect dropped: "+why)
	return true
}

// release ends what is done about a suspect that is none any more. Callers hold
// f.mu.
func (f *feed) release(s *suspect, what string) {
	f.resolver.suspects.Add(-1)
	left := f.guard.len()
	f.later(func() {
		s.stop()
		if repeated, ok := f.noise.Allow(what); ok {
			f.cfg.log.Info(what, "service", f.service, "address", s.entry.instance.String(), "suspects", left, "repeated", repeated)
		}
		if left == 0 {
			f.cfg.log.Info("the guard holds no suspect any more", "service", f.service)
		}
	})
}

// dropOverdue drops those whose hold time is over. Callers hold f.mu.
func (f *feed) dropOverdue(now time.Time) {
	f.dropAll(f.guard.ledger.Overdue(now), dropOverdue)
}

// dropMoved drops the suspects at whose addresses providers of other services
// have registered.
func (f *feed) dropMoved(at map[address]*Instance) {
	f.mu.Lock()
	defer f.unlock()
	var moved []*suspect
	for _, s := range f.guard.all() {
		if i := at[addressID(s.entry.instance.addr)]; i != nil && !oneProcess(s.entry.instance.id, i.id) {
			moved = append(moved, s)
		}
	}
	f.dropAll(moved, dropMoved)
}

// rest ends the probes and timers of a feed that has ended; its suspects are
// served on.
func (f *feed) rest() {
	f.mu.Lock()
	defer f.unlock()
	for _, s := range f.guard.all() {
		f.resolver.suspects.Add(-1)
		f.later(s.stop)
	}
	f.ruleSet.stop()
	f.ended = true
}
