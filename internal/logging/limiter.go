// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package logging

import (
	"sync"
	"time"
)

// Limiter lets each kind of line through once per interval and counts what it
// held back. It is safe for concurrent use. The zero Limiter has an interval
// of ten seconds.
type Limiter struct {
	Interval time.Duration

	mu   sync.Mutex
	seen map[string]*entry
}

type entry struct {
	last time.Time
	held int
}

// maxKinds bounds the memory of a limiter whose kinds come from outside.
const maxKinds = 1024

// Allow reports whether a line of this kind may be written now, and how many
// of the kind were held back since the last one.
func (l *Limiter) Allow(kind string) (held int, ok bool) {
	interval := l.Interval
	if interval <= 0 {
		interval = 10 * time.Second
	}
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.seen[kind]
	if e == nil && len(l.seen) >= maxKinds {
		l.forgetOld(now, interval)
		if len(l.seen) >= maxKinds {
			return 0, false // too many kinds to tell apart; all have been heard of
		}
	}
	if e == nil {
		if l.seen == nil {
			l.seen = make(map[string]*entry)
		}
		l.seen[kind] = &entry{last: now}
		return 0, true
	}
	if now.Sub(e.last) < interval {
		e.held++
		return 0, false
	}
	held, e.held, e.last = e.held, 0, now
	return held, true
}

// forgetOld makes room by the kinds that may be written again anyway.
func (l *Limiter) forgetOld(now time.Time, interval time.Duration) {
	for kind, e := range l.seen {
		if now.Sub(e.last) >= interval {
			delete(l.seen, kind)
		}
	}
}
