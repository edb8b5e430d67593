// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"math/rand/v2"
	"time"
)

// backoff spreads retries by full jitter: a wait is uniform between zero and a
// limit that doubles from base up to ceiling, so that a thousand processes
// which lost etcd together do not come back together.
type backoff struct {
	base, ceiling time.Duration
	limit         time.Duration
}

// next returns the next wait, at least a millisecond so that no loop can spin.
func (b *backoff) next() time.Duration {
	if b.limit == 0 {
		b.limit = b.base
	}
	wait := rand.N(b.limit) + time.Millisecond
	b.limit = min(2*b.limit, b.ceiling)
	return wait
}

// reset begins again at base after a success.
func (b *backoff) reset() { b.limit = 0 }

// pause waits for d, or until ctx ends or wake has a value, which it reports.
func pause(ctx context.Context, d time.Duration, wake <-chan struct{}) (woken bool) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-wake:
		return true
	case <-timer.C:
	}
	return false
}

// jittered is d give or take a fifth, for periodic work.
func jittered(d time.Duration) time.Duration {
	return d - d/5 + rand.N(2*d/5+1)
}

// wake gives a channel with room for one a value, unless it has one.
func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
