// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"errors"
	"fmt"

	"github.com/fairway-rpc/fairway/internal/fault"
)

// SetWeight sets the weight of every address of the service in this registry,
// and of those that register later, between 0 (no calls) and 2^31-1. It wins
// over the weight given to Register, and ends what [WithWeightSource] does for
// the service: whoever sets a weight by hand means it.
//
// It waits until etcd has the weight, or returns at once if the service is not
// registered. If ctx ends first, the error wraps [ErrRegistryUnavailable] and
// the wish stands: etcd gets the latest one when it can be reached. Other
// errors wrap [ErrInvalidConfig] or [ErrClosed]; nothing has changed then.
func (r *Registry) SetWeight(ctx context.Context, service string, weight int) error {
	w := int64(weight)
	if err := checkWeight(w); err != nil {
		return fault.Invalid("SetWeight", "%w", err)
	}
	return r.wishFor(ctx, "SetWeight", service, func(old *wish) { old.weight = &w })
}

// SetTags replaces the tags of every address of the service in this registry,
// and of those that register later; nil leaves none. The map is copied. It
// wins over the tags given to Register, waits and fails like
// [Registry.SetWeight].
func (r *Registry) SetTags(ctx context.Context, service string, tags map[string]string) error {
	kept := cloneTags(tags)
	probe := record{Network: "tcp", Address: "probe:1", State: StateServing, Tags: kept}
	if _, err := probe.encode(); err != nil {
		return fmt.Errorf("SetTags: %w", err)
	}
	return r.wishFor(ctx, "SetTags", service, func(old *wish) { old.tags = &kept })
}

// Drain asks consumers for no more new calls to any provider of this registry,
// those that register later included: their state becomes "draining", or their
// keys are removed under [WithHideDrained]. They stay registered, and calls in
// flight go on. It waits and fails like [Registry.SetWeight].
func (r *Registry) Drain(ctx context.Context) error { return r.setDrained(ctx, "Drain", true) }

// Undrain takes back what [Registry.Drain] did. It waits and fails like
// [Registry.SetWeight].
func (r *Registry) Undrain(ctx context.Context) error { return r.setDrained(ctx, "Undrain", false) }

// SetReady says whether the providers of the service in this registry, those that
// register later included, are ready for calls. While they are not they are
// registered as "draining", and keep their keys also under [WithHideDrained]; they
// are ready at first. Drained by [Registry.Drain], they stay so when they are ready.
// It waits and fails like [Registry.SetWeight].
func (r *Registry) SetReady(ctx context.Context, service string, ready bool) error {
	return r.wishFor(ctx, "SetReady", service, func(old *wish) { old.unready = !ready })
}

// hides reports whether keys are to be absent. The caller holds the mutex.
func (r *Registry) hides() bool { return r.drained && r.cfg.hideDrained }

// pending is a change that one registration is about to make in etcd.
type pending struct {
	*registration
	version uint64
}

func (r *Registry) setDrained(ctx context.Context, call string, drained bool) error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return fmt.Errorf("%s: registry: %w", call, ErrClosed)
	}
	r.drained = drained
	var changes []pending
	for id, g := range r.regs {
		changes = append(changes, r.aimLocked(g, r.wishes[id.service]))
	}
	r.mu.Unlock()
	return r.await(ctx, call, changes)
}

func (r *Registry) wishFor(ctx context.Context, call, service string, edit func(*wish)) error {
	changes, err := r.wish(service, edit)
	if err != nil {
		return fmt.Errorf("%s: %w", call, err)
	}
	return r.await(ctx, fmt.Sprintf("%s of service %q", call, service), changes)
}

// wish remembers a wish and gives it to the loops, or refuses it.
func (r *Registry) wish(service string, edit func(*wish)) ([]pending, error) {
	if err := CheckServiceName(service); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, fmt.Errorf("registry: %w", ErrClosed)
	}
	w := r.wishes[service]
	edit(&w)
	for id, g := range r.regs {
		if id.service != service {
			continue
		}
		if _, err := w.over(g.registeredWith(), r.drained).encode(); err != nil {
			return nil, err
		}
	}
	r.wishes[service] = w
	var changes []pending
	for id, g := range r.regs {
		if id.service == service {
			changes = append(changes, r.aimLocked(g, w))
		}
	}
	return changes, nil
}

func (r *Registry) aimLocked(g *registration, w wish) pending {
	return pending{g, g.aim(w.over(g.registeredWith(), r.drained), r.hides())}
}

// await waits until etcd agrees with all changes, or ctx ends.
func (r *Registry) await(ctx context.Context, call string, changes []pending) error {
	var errs []error
	for _, c := range changes {
		if err := c.await(ctx, c.version); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", c.wanted().key, err))
		}
	}
	if len(errs) > 0 {
		return fmt.Errorf("%w: %s has not reached etcd, but stands: %w", ErrRegistryUnavailable, call, errors.Join(errs...))
	}
	return nil
}
