// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"math/rand/v2"
	"time"

	"github.com/fairway-rpc/fairway/internal/due"
	"github.com/fairway-rpc/fairway/internal/lack"
)

// target is one address. It is in a queue or in flight until it is gone.
type target struct {
	address string
	wait    due.Item
	healthy bool
	against int  // checks in a row that contradict healthy
	asked   bool // for a check of which the outcome is to be reported
	gone    bool
}

func itemOf(t *target) *due.Item { return &t.wait }

func newTarget(address string, interval time.Duration) *target {
	return &target{address: address, healthy: true, wait: due.Item{At: time.Now().Add(rand.N(interval))}}
}

// observe takes in the outcome of a check and reports whether it changed the
// verdict.
func (t *target) observe(err error, cfg Config) (changed bool) {
	if lack.Is(err) {
		return false
	}
	if (err == nil) == t.healthy {
		t.against = 0
		return false
	}
	t.against++
	needed := cfg.Healthy
	if t.healthy {
		needed = cfg.Unhealthy
	}
	if t.against < needed {
		return false
	}
	t.healthy, t.against = !t.healthy, 0
	return true
}

// schedule sets when the next check is due.
func (t *target) schedule(cfg Config) {
	interval := cfg.Interval
	if !t.healthy || t.against > 0 {
		interval = cfg.FastInterval
	}
	t.wait.At = time.Now().Add(jittered(interval))
	if t.asked {
		t.hurry()
	}
}

// hurry makes the next check due now, unless it has been due for longer.
func (t *target) hurry() {
	if now := time.Now(); now.Before(t.wait.At) {
		t.wait.At = now
	}
}

// jittered is d give or take a tenth.
func jittered(d time.Duration) time.Duration {
	return d - d/10 + rand.N(d/5+1)
}
