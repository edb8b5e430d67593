// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// resolverMetrics shows what [Resolver.Status] tells, each service by itself.
type resolverMetrics struct {
	resolver *Resolver

	feed      metric.Int64Observable
	age       metric.Float64Observable
	revision  metric.Int64Observable
	instances metric.Int64Observable
	suspects  metric.Int64Observable
	skipped   metric.Int64Observable
	rules     metric.Int64Observable
	relists   metric.Int64Observable
	held      metric.Int64Observable
	returned  metric.Int64Observable
	dropped   metric.Int64Observable
}

// observeResolver shows a resolver's status through the provider's instruments
// until the registration is ended.
func observeResolver(r *Resolver, provider metric.MeterProvider) (metric.Registration, error) {
	s := newInstruments(provider)
	m := &resolverMetrics{
		resolver:  r,
		feed:      s.gauge("fairway.resolver.feed", "{feed}", "Followed services by the state of their feed: 1 for the present state."),
		age:       s.seconds("fairway.resolver.snapshot.age", "Time since etcd proved the instances to be current."),
		revision:  s.gauge("fairway.resolver.snapshot.revision", "{revision}", "The latest of etcd's revisions that is taken account of."),
		instances: s.gauge("fairway.resolver.instances", "{instance}", "Known instances, suspects included."),
		suspects:  s.gauge("fairway.resolver.suspects", "{instance}", "Instances that vanished from etcd without a word and are held by the guard."),
		skipped:   s.gauge("fairway.resolver.skipped", "{key}", "Keys whose records or rules cannot be used."),
		rules:     s.gauge("fairway.resolver.rules", "{rule}", "Operator's rules in force."),
		relists:   s.counter("fairway.resolver.relists", "{list}", "Watches that ended and lists that failed, by the cause; each is followed by a list."),
		held:      s.counter("fairway.resolver.guard.held", "{instance}", "Instances that the guard has begun to hold."),
		returned:  s.counter("fairway.resolver.guard.returned", "{instance}", "Suspects that have registered again."),
		dropped:   s.counter("fairway.resolver.guard.dropped", "{instance}", "Suspects that were dropped, by the reason."),
	}
	return s.register(m.observe)
}

func (m *resolverMetrics) observe(_ context.Context, o metric.Observer) error {
	now := time.Now()
	status := m.resolver.Status()
	for i := range status.Services {
		m.observeService(o, &status.Services[i], now)
	}
	return nil
}

func (m *resolverMetrics) observeService(o metric.Observer, s *ServiceStatus, now time.Time) {
	base := []attribute.KeyValue{keyResolver.String(m.resolver.name), keyService.String(s.Service)}
	with := func(more ...attribute.KeyValue) metric.MeasurementOption {
		return metric.WithAttributes(append(slices.Clip(base), more...)...)
	}
	all := with()
	o.ObserveInt64(m.feed, 1, with(keyState.String(string(s.State)), keySource.String(string(s.Source))))
	if !s.ProvedAt.IsZero() {
		o.ObserveFloat64(m.age, s.Age(now).Seconds(), all)
		o.ObserveInt64(m.revision, s.Revision, all)
	}
	o.ObserveInt64(m.instances, int64(s.Instances), all)
	o.ObserveInt64(m.suspects, int64(s.Suspects), all)
	o.ObserveInt64(m.skipped, int64(s.Skipped), all)
	o.ObserveInt64(m.rules, int64(s.Rules), all)
	o.ObserveInt64(m.held, s.GuardHeld, all)
	o.ObserveInt64(m.returned, s.GuardReturned, all)
	for cause, n := range s.Relists {
		o.ObserveInt64(m.relists, n, with(keyCause.String(cause)))
	}
	for reason, n := range s.GuardDropped {
		o.ObserveInt64(m.dropped, n, with(keyReason.String(reason)))
	}
}
