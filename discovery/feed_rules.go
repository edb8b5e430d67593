// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"maps"
	"time"
)

// ruleCheck bounds the wait for a rule's end, so that a clock that was set does
// not keep a rule for long.
const ruleCheck = time.Minute

// ruleSet is the rules of one service that hold at present.
type ruleSet struct {
	all   *Rule
	own   map[string]*Rule // by address, that for all among them
	made  map[*Instance]made
	timer *time.Timer // to the end of the next rule
}

// made is what rules made of an instance, kept so that an instance that stays
// the same stays the same object.
type made struct {
	all, own *Rule
	instance *Instance
}

// readRules takes the rules in and has them read again when the next one ends.
// Callers hold f.mu.
func (f *feed) readRules() {
	now := time.Now()
	f.ruleSet.stop()
	next := time.Time{}
	own := make(map[string]*Rule)
	for _, e := range f.rules.entries {
		if e.rule == nil || e.rule.expired(now) {
			continue
		}
		if until := e.rule.Until; !until.IsZero() && (next.IsZero() || until.Before(next)) {
			next = until
		}
		_, address, _ := f.cfg.keys.ruleAddress(e.key) // was checked when it was decoded
		own[address] = e.rule
	}
	f.ruleSet.all, f.ruleSet.own = own[AllAddresses], own
	if !next.IsZero() {
		f.ruleSet.timer = time.AfterFunc(min(next.Sub(now), ruleCheck), f.expireRules)
	}
}

// expireRules publishes what is without the rules that have ended, if any has:
// it is called in between too. It needs no etcd.
func (f *feed) expireRules() {
	f.mu.Lock()
	defer f.unlock()
	if f.ruleSet.timer == nil {
		return // the feed has ended
	}
	before := f.ruleSet.own
	f.readRules()
	if !maps.Equal(before, f.ruleSet.own) {
		f.publish()
	}
}

// stop ends the timer.
func (s *ruleSet) stop() {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
}

// apply makes the list of effective instances.
func (s *ruleSet) apply(list []*Instance) []*Instance {
	if len(s.own) == 0 {
		s.made = nil
		return list
	}
	before := s.made
	s.made = make(map[*Instance]made, len(list))
	for n, base := range list {
		m := before[base]
		own := s.own[base.addr.String()]
		if m.instance == nil || m.all != s.all || m.own != own {
			m = made{all: s.all, own: own, instance: effective(base, s.all, own)}
		}
		s.made[base] = m
		list[n] = m.instance
	}
	return list
}
