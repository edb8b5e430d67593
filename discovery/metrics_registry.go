// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// registryMetrics shows what [Registry.Status] tells, by service and state:
// addresses would be too many.
type registryMetrics struct {
	registry *Registry

	registrations metric.Int64Observable
	ttlLeft       metric.Float64Observable
}

// observeRegistry shows a registry's status through the provider's instruments
// until the registration is ended.
func observeRegistry(r *Registry, provider metric.MeterProvider) (metric.Registration, error) {
	s := newInstruments(provider)
	m := &registryMetrics{
		registry:      r,
		registrations: s.gauge("fairway.registry.registrations", "{registration}", "Providers of this process by their state in the registry."),
		ttlLeft: s.seconds("fairway.registry.lease.ttl_left",
			"The least time that a lease of the service lives if it is not renewed from now on."),
	}
	return s.register(m.observe)
}

type serviceState struct {
	service string
	state   RegistrationState
}

func (m *registryMetrics) observe(_ context.Context, o metric.Observer) error {
	states := make(map[serviceState]int64)
	least := make(map[string]float64)
	for _, s := range m.registry.Status().Registrations {
		states[serviceState{s.Service, s.State}]++
		if s.Lease == "" {
			continue
		}
		left := s.TTLLeft.Seconds()
		if known, ok := least[s.Service]; !ok || left < known {
			least[s.Service] = left
		}
	}
	prefix := keyPrefix.String(m.registry.cfg.keys.prefix)
	with := func(attrs ...attribute.KeyValue) metric.MeasurementOption {
		return metric.WithAttributes(append(attrs, prefix)...)
	}
	for s, n := range states {
		o.ObserveInt64(m.registrations, n, with(keyService.String(s.service), keyState.String(string(s.state))))
	}
	for service, left := range least {
		o.ObserveFloat64(m.ttlLeft, left, with(keyService.String(service)))
	}
	return nil
}
