// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"context"
	"sync"
	"time"

	"github.com/cloudwego/kitex/client"
	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	"github.com/cloudwego/kitex/pkg/event"
	"github.com/cloudwego/kitex/pkg/utils"

	"github.com/fairway-rpc/fairway/internal/live"
)

// followed is the suite's resolver in one client. Whatever the client resolves is
// followed from then on, if its resolver publishes a live list.
type followed struct {
	kdiscovery.Resolver

	suite    *clientSuite
	follower *follower
}

// String is what Kitex prints of the resolver.
func (r *followed) String() string { return r.Name() }

// Resolve implements Kitex's discovery.Resolver.
func (r *followed) Resolve(ctx context.Context, desc string) (kdiscovery.Result, error) {
	res, err := r.Resolver.Resolve(ctx, desc)
	if err == nil && res.Cacheable {
		r.follower.follow(live.Key(r.Name(), res.CacheKey))
	}
	return res, err
}

// resolveAndFollow sets the resolver of a client and has its event bus told of
// changes as soon as they are known, until the client is closed.
func (s *clientSuite) resolveAndFollow() client.Option {
	return client.Option{F: func(o *client.Options, di *utils.Slice) {
		f := &follower{resolver: s.resolver, bus: o.Bus, services: make(map[string]*following)}
		client.WithResolver(&followed{Resolver: s.resolver, suite: s, follower: f}).F(o, di)
		o.CloseCallbacks = append(o.CloseCallbacks, f.close)
	}}
}

// follower dispatches the changes of live lists on the event bus of one client.
// Kitex does so itself, but only when it resolves again, which is every five
// seconds. Until then its pools of connections would keep those to instances that
// are gone.
type follower struct {
	resolver kdiscovery.Resolver
	bus      event.Bus

	mu       sync.Mutex
	services map[string]*following // by cache key
	closed   bool
}

// follow follows the view under a key. Kitex calls it by Resolve again and again,
// so that the new view of a service that had not been used for long is found.
func (f *follower) follow(key string) {
	view := live.Find(key)
	if view == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.services[key]
	if f.closed || s != nil && s.view == view {
		return
	}
	if s != nil {
		s.cancel()
	}
	f.services[key] = follow(f, key, view)
}

// leave forgets a view that has ended.
func (f *follower) leave(s *following) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s.cancel()
	if f.services[s.key] == s {
		delete(f.services, s.key)
	}
}

// close is called by Kitex when the client is closed. Kitex may resolve for half a
// minute longer.
func (f *follower) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for _, s := range f.services {
		s.cancel()
	}
	clear(f.services)
	return nil
}

func (f *follower) isClosed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

// tell dispatches a change. Whoever watches the bus runs in a goroutine of his
// own.
func (f *follower) tell(change *kdiscovery.Change) {
	if !f.isClosed() {
		f.bus.Dispatch(&event.Event{Name: kdiscovery.ChangeEventName, Time: time.Now(), Extra: change})
	}
}
