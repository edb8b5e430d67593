// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"sync"
	"sync/atomic"
	"time"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
)

// Node is one instance of a service as a balancer needs it. It is immutable, and
// shared by the sets that say the same about the instance: of two sets most nodes
// are the same objects.
type Node struct {
	Instance kdiscovery.Instance
	// Address is Instance.Address().String(), kept so that nobody formats it twice.
	Address string
	// Weight is the configured weight, whether or not the instance serves.
	// Hashes place it by this weight, so that draining moves no other key.
	Weight int
	// Serving is false for an instance that must get no new calls.
	Serving bool
	// WarmUp is nil for an instance that is to have its share of the calls at once,
	// as almost all are.
	WarmUp *WarmUp
	// Suspect is told how calls went, where whoever publishes the list wants to
	// know. It is nil for ordinary instances.
	Suspect *Suspect
}

// WarmUp is the time over which an instance's share of the calls should grow from
// nothing to what its weight is, and when that began, on the monotonic clock. It
// is immutable.
type WarmUp struct {
	Born  time.Time
	Takes time.Duration
}

// Set is one immutable list of a service's instances and where it comes from.
type Set struct {
	Nodes    []*Node
	Revision int64
	Stale    bool
	Source   string
	// Suspects is the number of instances that are only kept on suspicion of the
	// registry, serving or not.
	Suspects int
}

// View is the live list of one service. Readers never wait; watchers are
// called by the publisher, one after another, and must not block.
type View struct {
	set    atomic.Pointer[Set]
	proved atomic.Pointer[time.Duration] // since begin
	closed atomic.Bool

	mu       sync.Mutex
	next     int
	watchers map[int]watcher
}

// watcher is told of each change, and settles it if it can be waited for.
type watcher struct{ changed, settle func() }

// Load returns the present set, or nil before the first one.
func (v *View) Load() *Set { return v.set.Load() }

// Publish makes s the present set and tells the watchers.
func (v *View) Publish(s *Set) {
	v.set.Store(s)
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, w := range v.watchers {
		w.changed()
	}
}

// begin is what proofs are measured from, on the monotonic clock: ages must not
// jump when the clock is set.
var begin = time.Now()

// Prove records that the present set was known to be true at t.
func (v *View) Prove(t time.Time) {
	at := t.Sub(begin)
	v.proved.Store(&at)
}

// Age tells how long before now the set was last known to be true;
// it is negative when it never was.
func (v *View) Age(now time.Time) time.Duration {
	proved := v.proved.Load()
	if proved == nil {
		return -1
	}
	return max(0, now.Sub(begin)-*proved)
}

// OnChange calls f after each Publish until cancel is called. No call of f
// begins after cancel has returned.
func (v *View) OnChange(f func()) (cancel func()) { return v.Watch(f, nil) }

// Watch is OnChange for a watcher that acts on a change elsewhere and can be
// waited for: settle returns when the present set, or a later one, is in effect.
// It is called without a lock, concurrently too, and perhaps once more while
// cancel is called.
func (v *View) Watch(changed, settle func()) (cancel func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.watchers == nil {
		v.watchers = make(map[int]watcher)
	}
	id := v.next
	v.next++
	v.watchers[id] = watcher{changed, settle}
	return func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		delete(v.watchers, id)
	}
}

// Settle waits until the present set is in effect with every watcher that can
// be waited for. A publisher whose changes must be seen by the next pick calls
// it after Publish, without a lock that a pick may want.
func (v *View) Settle() {
	for _, settle := range v.settlers() {
		settle()
	}
}

func (v *View) settlers() []func() {
	v.mu.Lock()
	defer v.mu.Unlock()
	var all []func()
	for _, w := range v.watchers {
		if w.settle != nil {
			all = append(all, w.settle)
		}
	}
	return all
}

// Close tells the watchers that no further set will come.
func (v *View) Close() {
	v.closed.Store(true)
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, w := range v.watchers {
		w.changed()
	}
}

// Closed reports whether the view has ended; its last set stays loadable.
func (v *View) Closed() bool { return v.closed.Load() }
