// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/fairway-rpc/fairway/internal/fault"
)

// WithWeightSource drives the weight of the services named, or of all services
// of the registry if none is named, from what source returns: load, free
// memory, the fill of a pool. A later source wins for a service that it names,
// and one that names services over one that does not.
//
// Source is called about once a second while something is registered, always
// from the same goroutine; Close waits for a call that is running. A value is
// published if it differs by a quarter or more from the one published last, or
// is or was zero, and at most every 30 seconds for each service, so that the
// number of writes to etcd is bounded whatever the source does. A value that is
// negative or above 2^31-1 is ignored, and logged once. A panic in it ends the
// process, as in any other goroutine of the program.
//
// [Registry.SetWeight] switches the source off for its service.
func WithWeightSource(source func() int, services ...string) RegistryOption {
	return registryOption(func(c *registryConfig) error {
		if source == nil {
			return fault.Invalid("WithWeightSource", "the function is nil")
		}
		for _, service := range services {
			if err := CheckServiceName(service); err != nil {
				return fault.Invalid("WithWeightSource", "%w", err)
			}
		}
		c.sources = append(c.sources, &weightSource{sample: source, services: slices.Clone(services)})
		return nil
	})
}

// weightSource is one function and the services that it is for.
type weightSource struct {
	sample     func() int
	services   []string // none: all
	complained bool
}

// sourceOf is the source that drives a service, or nil.
func sourceOf(sources []*weightSource, service string) *weightSource {
	var general *weightSource
	for _, s := range slices.Backward(sources) {
		if slices.Contains(s.services, service) {
			return s
		}
		if general == nil && len(s.services) == 0 {
			general = s
		}
	}
	return general
}

// sampler calls the weight sources of a registry, from one goroutine at a time.
type sampler struct {
	mu    sync.Mutex // held by the goroutine that runs
	ramps map[string]*ramp
}

func (s *sampler) run(ctx context.Context, r *Registry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ramps == nil {
		s.ramps = make(map[string]*ramp)
	}
	for ctx.Err() == nil {
		s.sample(r)
		pause(ctx, jittered(r.cfg.timing.sample), nil)
	}
}

// sample calls each source once and publishes what is worth it.
func (s *sampler) sample(r *Registry) {
	values := make(map[*weightSource]int64, len(r.cfg.sources))
	for _, source := range r.cfg.sources {
		value := int64(source.sample())
		if err := checkWeight(value); err == nil {
			values[source] = value
		} else if !source.complained {
			source.complained = true
			r.cfg.log.Warn("a weight source returned what is no weight; it is ignored, now and later", "error", err)
		}
	}
	for service, present := range r.driven() {
		value, ok := values[sourceOf(r.cfg.sources, service)]
		if !ok {
			continue
		}
		p := s.ramps[service]
		if p == nil {
			p = &ramp{published: present}
			s.ramps[service] = p
		}
		if p.publish(time.Now(), value, r.cfg.timing.republish) {
			_, _ = r.wish(service, func(w *wish) { w.sourced = &value }) // fails only once closed
		}
	}
}

// driven are the registered services whose weight nobody has set by hand, with
// their present weight.
func (r *Registry) driven() map[string]int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	services := make(map[string]int64)
	for id, g := range r.regs {
		if r.wishes[id.service].weight == nil {
			services[id.service] = g.wanted().record.weight()
		}
	}
	return services
}

// ramp decides which values of a source are worth a write to etcd.
type ramp struct {
	published int64
	notBefore time.Time
}

// publish reports whether the weight is to be published now, and then counts
// it as published. The next one follows no sooner than after every, with up
// to a fifth more so that a fleet whose load moves together does not write
// together.
func (p *ramp) publish(now time.Time, weight int64, every time.Duration) bool {
	if now.Before(p.notBefore) || !worthwhile(p.published, weight) {
		return false
	}
	p.published, p.notBefore = weight, now.Add(every+rand.N(every/5+1))
	return true
}

// worthwhile is a change of a quarter or more, and any from or to zero.
func worthwhile(before, after int64) bool {
	if before == 0 || after == 0 {
		return before != after
	}
	change := after - before
	return 4*max(change, -change) >= before
}
