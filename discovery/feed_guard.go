// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"net"
	"time"

	"github.com/fairway-rpc/fairway/internal/live"
)

// gone tells the guard of an instance that is no longer in etcd. One that said
// that it would leave is let go. Callers hold f.mu.
func (f *feed) gone(old entry) {
	if f.cfg.guard.Off || old.instance == nil || old.instance.state == StateLeaving {
		return
	}
	f.guard.ledger.Widen(old.instance.ttl)
	f.guard.ledger.Vanished(time.Now(), old.key, newSuspect(old))
}

// returned releases the suspect that has registered again. Callers hold f.mu.
func (f *feed) returned(e entry) (released bool) {
	if e.instance == nil {
		return false
	}
	s := f.guard.back(e)
	if f.resolver.suspects.Load() > 0 {
		f.later(func() { f.resolver.appeared(f, e.instance) })
	}
	if s == nil {
		return false
	}
	f.guard.returned++
	f.release(s, "suspect registered again")
	return true
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
	if !f.ended && f.dropHeld(s, why) {
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
	overdue := f.guard.ledger.Overdue(now)
	for _, s := range overdue {
		f.dropHeld(s, dropOverdue)
	}
	if len(overdue) > 0 {
		f.publish()
		f.save()
	}
}

// dropMoved drops the suspect whose address another provider has now.
func (f *feed) dropMoved(addr net.Addr) {
	f.mu.Lock()
	defer f.unlock()
	if s := f.guard.at(addr); s != nil && f.dropHeld(s, dropMoved) {
		f.publish()
		f.save()
	}
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
