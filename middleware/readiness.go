// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"context"
	"sync"
	"time"

	"github.com/cloudwego/kitex/pkg/klog"
	"github.com/cloudwego/kitex/pkg/registry"

	"github.com/fairway-rpc/fairway/discovery"
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

// readyRegistry asks the check as long as a server is registered.
type readyRegistry struct {
	registry.Registry

	reg      *discovery.Registry
	services []string
	check    func(ctx context.Context) error
	every    time.Duration

	mu      sync.Mutex
	stop    context.CancelFunc // nil while nothing is registered
	done    chan struct{}
	unready bool
}

// Register implements Kitex's registry.Registry: who is not ready registers so.
func (r *readyRegistry) Register(info *registry.Info) error {
	if info == nil {
		return r.Registry.Register(nil)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stop == nil {
		ctx, cancel := context.WithCancel(context.Background())
		r.stop, r.done = cancel, make(chan struct{})
		r.ask(ctx)
		go r.run(ctx, r.done)
	}
	return r.Registry.Register(info)
}

// Deregister implements Kitex's registry.Registry.
func (r *readyRegistry) Deregister(info *registry.Info) error {
	r.mu.Lock()
	stop, done := r.stop, r.done
	r.stop = nil
	r.mu.Unlock()
	if stop != nil {
		stop()
		defer func() { <-done }() // not before: a check may take its time
	}
	return r.Registry.Deregister(info)
}

func (r *readyRegistry) run(ctx context.Context, done chan<- struct{}) {
	defer close(done)
	tick := time.NewTicker(r.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			r.ask(ctx)
		}
	}
}

// ask tells the registry if the answer is another than the last.
func (r *readyRegistry) ask(ctx context.Context) {
	within, cancel := context.WithTimeout(ctx, r.every)
	defer cancel()
	err := r.check(within)
	if unready := err != nil; ctx.Err() != nil || unready == r.unready {
		return
	}
	r.unready = err != nil
	if err != nil {
		klog.Warnf("fairway: the provider of %v is not ready and drains: %v", r.services, err)
	} else {
		klog.Infof("fairway: the provider of %v is ready", r.services)
	}
	gone, cancelWait := context.WithCancel(ctx)
	cancelWait() // the wish stands; waiting for etcd would hold up the next question
	for _, service := range r.services {
		_ = r.reg.SetReady(gone, service, !r.unready)
	}
}
