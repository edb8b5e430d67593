// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"context"
	"sync"
	"time"

	"github.com/cloudwego/kitex/pkg/registry"

	"github.com/fairway-rpc/fairway/internal/fault"
)

// readinessEvery is how often a provider asks itself by default.
const readinessEvery = time.Second

// WithReadiness has the provider ask itself whether it is ready for calls, before
// it registers and then every so often, once a second if that is 0. While check
// returns an error the provider drains: it stays registered, and consumers send it
// no new calls. The check is called from one goroutine, within a context that ends
// after the interval; it must not block for longer. Each change is logged.
func WithReadiness(check func(ctx context.Context) error, every time.Duration) ServerOption {
	return serverOption(func(s *serverSuite) error {
		switch {
		case check == nil:
			return fault.Invalid("WithReadiness", "the function is nil")
		case every < 0:
			return fault.Invalid("WithReadiness", "%v is below 0", every)
		case every == 0:
			every = readinessEvery
		}
		s.ready, s.readyEvery = check, every
		return nil
	})
}

// readiness is what a registry is told.
type readiness interface {
	SetReady(ctx context.Context, service string, ready bool) error
}

// readyRegistry asks the check as long as any server is registered.
type readyRegistry struct {
	registry.Registry

	reg      readiness
	services []string
	check    func(ctx context.Context) error
	every    time.Duration

	mu      sync.Mutex
	servers map[string]struct{} // that are registered
	asker   *asker              // the last one, which has stopped if there are no servers
}

// Register implements Kitex's registry.Registry: who is not ready registers so.
func (r *readyRegistry) Register(info *registry.Info) error {
	if info == nil {
		return r.Registry.Register(nil)
	}
	r.enter(info)
	err := r.Registry.Register(info)
	if err != nil {
		r.withdraw(r.leave(info))
	}
	return err
}

// Deregister implements Kitex's registry.Registry.
func (r *readyRegistry) Deregister(info *registry.Info) error {
	if info == nil {
		return r.Registry.Deregister(nil)
	}
	stopped := r.leave(info)
	defer r.withdraw(stopped) // not before: a check may take its time
	return r.Registry.Deregister(info)
}

// enter begins to ask with the first server, and returns when it has the answer.
func (r *readyRegistry) enter(info *registry.Info) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.servers) == 0 {
		r.servers = make(map[string]struct{})
		r.asker = r.startAsking(r.asker)
	}
	r.servers[serverOf(info)] = struct{}{}
}

// leave stops asking with the last server. It returns who has asked then.
func (r *readyRegistry) leave(info *registry.Info) (stopped *asker) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, had := r.servers[serverOf(info)]; !had {
		return nil
	}
	delete(r.servers, serverOf(info))
	if len(r.servers) > 0 {
		return nil
	}
	r.asker.stop()
	return r.asker
}

// withdraw takes back that servers were not ready who have all left, or the
// registry would drain who comes next, unless that is for another asker to say.
func (r *readyRegistry) withdraw(stopped *asker) {
	if stopped == nil {
		return
	}
	<-stopped.done
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asker == stopped && stopped.unready {
		stopped.unready = false
		stopped.tell(context.Background())
	}
}

// serverOf tells servers apart.
func serverOf(info *registry.Info) string {
	if info.Addr == nil {
		return info.ServiceName
	}
	return info.ServiceName + " " + info.Addr.String()
}
