// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/cloudwego/kitex/pkg/registry"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.opentelemetry.io/otel/metric"

	"github.com/fairway-rpc/fairway/internal/fault"
)

var _ registry.Registry = (*Registry)(nil)

const (
	// registerWait is how long Register waits for the first answer of etcd:
	// Kitex serves neither signals nor Stop meanwhile.
	registerWait = time.Second / 2
	// failFastWait is the same under WithFailFast.
	failFastWait = requestTimeout
)

// Registry keeps the providers of this process registered in etcd. It
// implements Kitex's registry.Registry; several servers may share one.
type Registry struct {
	cli     *clientv3.Client
	cfg     *registryConfig
	notify  *notifier
	metrics metric.Registration
	delay   sharedDelay
	attend  attendants
	sampler sampler
	closing sync.Once

	mu      sync.Mutex
	regs    map[registrationID]*registration
	leaving map[*registration]struct{} // being deregistered
	wishes  map[string]wish            // by service
	drained bool
	closed  bool
}

// registrationID is what a server calls itself: the address is the listener's,
// since the advertised one may change with the routes while the server runs.
type registrationID struct{ service, network, address string }

// NewRegistry makes a registry on a client that it borrows and never closes.
// It returns at once, whether or not etcd can be reached. A client that was not
// made by [Dial] should connect again quickly: by default gRPC waits up to two
// minutes, in which a lease expires. Errors wrap [ErrInvalidConfig].
func NewRegistry(cli *clientv3.Client, opts ...RegistryOption) (*Registry, error) {
	if err := checkClient("NewRegistry", cli, registering); err != nil {
		return nil, err
	}
	cfg, err := newRegistryConfig(opts)
	if err != nil {
		return nil, err
	}
	r := &Registry{
		cli:     cli,
		cfg:     cfg,
		notify:  newNotifier(cfg.onStatus),
		delay:   sharedDelay{delay: cfg.drainDelay},
		regs:    make(map[registrationID]*registration),
		leaving: make(map[*registration]struct{}),
		wishes:  make(map[string]wish),
	}
	if r.metrics, err = observeRegistry(r, cfg.meterProvider); err != nil {
		return nil, fault.Invalid("WithMeterProvider", "%w", err)
	}
	return r, nil
}

// String is what Kitex prints of the registry.
func (r *Registry) String() string { return "fairway-registry-" + r.cfg.keys.prefix }

// Register implements Kitex's registry.Registry: it puts the server into etcd
// under a lease and keeps it there until Deregister, whatever happens to etcd
// meanwhile. It waits for etcd's first answer for half a second and then
// goes on in the background with a nil error, unless [WithFailFast] is set.
//
// The weight is info.Weight, or 10 if that is 0; what [Registry.SetWeight],
// [Registry.SetTags] and [Registry.Drain] have said, before or after, wins.
// Errors wrap [ErrInvalidConfig], [ErrClosed] or, under WithFailFast,
// [ErrRegistryUnavailable]; nothing is registered then.
func (r *Registry) Register(info *registry.Info) error {
	if info == nil {
		// Kitex does so when a server is stopped within its first second.
		r.cfg.log.Info("nothing to register: the server is stopping")
		return nil
	}
	base, id, find, err := r.base(info)
	if err != nil {
		return err
	}
	g, err := r.start(id, base, find)
	if err != nil {
		return err
	}
	return r.firstAnswer(g, id)
}

// start begins a registration, or gives the existing one its new record.
func (r *Registry) start(id registrationID, base *record, find addressFinder) (*registration, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, fmt.Errorf("registry: %w", ErrClosed)
	}
	wanted := r.wishes[id.service].over(base, r.drained)
	if _, err := wanted.encode(); err != nil {
		return nil, err
	}
	if g := r.regs[id]; g != nil {
		g.rebase(base)
		g.aim(wanted, r.hides())
		return g, nil
	}
	g := newRegistration(r, id.service, base, find)
	g.aim(wanted, r.hides())
	r.regs[id] = g
	r.attendLocked()
	g.start()
	return g, nil
}

// firstAnswer waits for etcd a little, so that a server that Kitex calls
// started is usually visible.
func (r *Registry) firstAnswer(g *registration, id registrationID) error {
	wait := registerWait
	if r.cfg.failFast {
		wait = failFastWait
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	select {
	case <-g.registered:
		return nil
	case <-g.done:
		return nil // deregistered meanwhile
	case <-ctx.Done():
	}
	why := g.failure()
	if why == nil {
		why = ctx.Err()
	}
	if !r.cfg.failFast {
		g.log.Warn("etcd has not answered; registering in the background", "error", why)
		return nil
	}
	if r.take(id, g) == nil {
		return nil // deregistered meanwhile
	}
	g.halt(retryBase)
	g.enter(Deregistered, nil)
	r.gone(g)
	return fmt.Errorf("%w: service %q not registered within %v (WithFailFast): %w", ErrRegistryUnavailable, id.service, wait, why)
}

// take removes a registration from those that are wanted; nil if there is
// none, or not the one that is meant. It is followed by gone.
func (r *Registry) take(id registrationID, meant *registration) *registration {
	r.mu.Lock()
	defer r.mu.Unlock()
	g := r.regs[id]
	if g == nil || meant != nil && g != meant {
		return nil
	}
	delete(r.regs, id)
	r.leaving[g] = struct{}{}
	return g
}

// gone ends what take began.
func (r *Registry) gone(g *registration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.leaving, g)
	if len(r.regs) == 0 {
		r.attend.dismiss()
	}
}

// Deregister implements Kitex's registry.Registry. It takes the server out of
// etcd and then waits for the drain delay, so that consumers have moved on
// when Kitex closes the listener; servers that stop together share one delay.
// It may be called before, during and after Register, twice, with nil, and with
// etcd down; all but the delay ends within three seconds. A server that was
// never put into etcd is not waited for.
// What is left when etcd cannot be reached ends with its lease; that is logged
// and no error, since the server is going to stop anyway.
func (r *Registry) Deregister(info *registry.Info) error {
	if info == nil || info.Addr == nil {
		return nil
	}
	if g := r.take(idOf(info), nil); g != nil {
		r.end(g)
	}
	return nil
}

func (r *Registry) end(g *registration) {
	g.end(&r.delay)
	r.gone(g)
}

// Close deregisters what is still registered, all at once and with the drain
// delay, and refuses further registrations. It may be called more than once.
func (r *Registry) Close() error {
	r.closing.Do(r.shut)
	return nil
}

func (r *Registry) shut() {
	r.mu.Lock()
	r.closed = true
	regs := r.regs
	r.regs = make(map[registrationID]*registration)
	for _, g := range regs {
		r.leaving[g] = struct{}{}
	}
	r.mu.Unlock()
	var all sync.WaitGroup
	for _, g := range regs {
		all.Go(func() { r.end(g) })
	}
	all.Wait()
	r.attend.end()
	r.notify.wait()
	_ = r.metrics.Unregister() // the SDK never fails here
}
