// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"math/rand/v2"
	"time"
)

// How long a node is set aside: doubled by each trial that fails.
const (
	firstDelay = time.Second
	lastDelay  = 30 * time.Second
)

// aside is the immutable state of a node that got no connection. Picks avoid it
// until the delay is over; then one call is let through as a trial, and the
// others go on avoiding it. A trial of which nothing is heard is not waited for:
// when its delay is over, too, the next call is let through.
type aside struct {
	level  int       // how often the delay has begun for a failure
	failed time.Time // the last time
	until  time.Time // when the next call is let through
	trial  bool      // one was let through after the last failure
	unseen bool      // nobody tells how that trial ends, unless it fails
}

// due reports whether a call may be let through.
func (a *aside) due(now time.Time) bool { return !now.Before(a.until) }

// delayOf is the delay of a level, give or take a tenth, so that the trials of
// many consumers spread. It is never below the first delay.
func delayOf(level int) time.Duration {
	delay := lastDelay
	if level < 6 {
		delay = min(lastDelay, firstDelay<<(level-1))
	}
	return max(firstDelay, delay-delay/10+rand.N(delay/5))
}

// asideAfter is the state after a failure that makes the level.
func asideAfter(level int, now time.Time) *aside {
	return &aside{level: level, failed: now, until: now.Add(delayOf(level))}
}

// tried is the state while a trial is out. If nobody will tell that it was
// answered, it need not be waited for longer than a failure takes to show.
func (a *aside) tried(now time.Time, unseen bool) *aside {
	delay := firstDelay
	if !unseen {
		delay = delayOf(a.level)
	}
	return &aside{level: a.level, failed: a.failed, until: now.Add(delay), trial: true, unseen: unseen}
}

// next is the level of a failure after a trial that was let through unseen and
// taken for a success. A failure soon after it shows that it was none.
func (a *aside) next(now time.Time) int {
	if a == nil || now.Sub(a.until) > delayOf(a.level) {
		return 1
	}
	return a.level + 1
}
