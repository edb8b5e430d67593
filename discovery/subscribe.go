// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import "sync"

// Subscribe calls f with the present snapshot of the service, once there is
// one, and with each later one: in order, never concurrently, and only with the
// latest if f is slow. The service is followed as long as the subscription
// lasts. Cancel waits for a running f, so f must not call it; it may be called
// more than once. A service that cannot be followed is logged and never
// delivers.
func (r *Resolver) Subscribe(service string, f func(*Snapshot)) (cancel func()) {
	feed, err := r.feed(service)
	if err != nil {
		r.cfg.log.Error("subscription refused", "service", service, "error", err)
		return func() {}
	}
	wake := feed.subs.add()
	quit := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		feed.deliver(f, wake, quit)
	}()
	return sync.OnceFunc(func() {
		feed.subs.remove(wake)
		feed.touch()
		close(quit)
		<-done
	})
}

// deliver calls f until quit is closed or the feed has ended.
func (f *feed) deliver(to func(*Snapshot), wake, quit <-chan struct{}) {
	var last *published
	for ended := false; !ended; {
		select {
		case <-quit:
			return
		case <-f.done:
			ended = true // after what came last
		case <-wake:
		}
		if p := f.published.Load(); p != nil && p != last {
			last = p
			to(p.snapshot)
		}
	}
}
