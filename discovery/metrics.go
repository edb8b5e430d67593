// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"fmt"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// ScopeName is the instrumentation scope of the metrics.
const ScopeName = "github.com/fairway-rpc/fairway/discovery"

// Version is the version of the instrumentation scope.
const Version = "0.1.0"

// The attributes of the metrics. Addresses are none of them.
const (
	keyService  = attribute.Key("fairway.service")
	keyResolver = attribute.Key("fairway.resolver")
	keyPrefix   = attribute.Key("fairway.prefix")
	keyState    = attribute.Key("fairway.state")
	keySource   = attribute.Key("fairway.snapshot.source")
	keyCause    = attribute.Key("fairway.relist.cause")
	keyReason   = attribute.Key("fairway.guard.reason")
)

// instruments makes instruments that are read when somebody collects, so that
// counting costs nothing else; it keeps the first error.
type instruments struct {
	meter metric.Meter
	all   []metric.Observable
	err   error
}

func newInstruments(provider metric.MeterProvider) *instruments {
	if provider == nil {
		provider = otel.GetMeterProvider()
	}
	return &instruments{meter: provider.Meter(ScopeName,
		metric.WithInstrumentationVersion(Version), metric.WithSchemaURL(semconv.SchemaURL))}
}

func (s *instruments) gauge(name, unit, description string) metric.Int64Observable {
	g, err := s.meter.Int64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(description))
	s.add(g, err)
	return g
}

func (s *instruments) seconds(name, description string) metric.Float64Observable {
	g, err := s.meter.Float64ObservableGauge(name, metric.WithUnit("s"), metric.WithDescription(description))
	s.add(g, err)
	return g
}

func (s *instruments) counter(name, unit, description string) metric.Int64Observable {
	c, err := s.meter.Int64ObservableCounter(name, metric.WithUnit(unit), metric.WithDescription(description))
	s.add(c, err)
	return c
}

func (s *instruments) add(o metric.Observable, err error) {
	s.all = append(s.all, o)
	if s.err == nil && err != nil {
		s.err = err
	}
}

// register has observe called at each collection until the result is
// unregistered.
func (s *instruments) register(observe metric.Callback) (metric.Registration, error) {
	if s.err != nil {
		return nil, fmt.Errorf("fairway: make the instruments: %w", s.err)
	}
	registration, err := s.meter.RegisterCallback(observe, s.all...)
	if err != nil {
		return nil, fmt.Errorf("fairway: register the instruments: %w", err)
	}
	return registration, nil
}
