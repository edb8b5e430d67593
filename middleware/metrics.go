// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"fmt"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/fairway-rpc/fairway/internal/fault"
)

// The attributes of metrics besides OpenTelemetry's own rpc.system.name,
// rpc.method, error.type and network.peer.address. Service and policy are those of
// the pick span.
const (
	// keyCause (string): why an instance was ejected.
	keyCause = attribute.Key("fairway.ejection.cause")
)

// systemKitex is what all calls are.
var systemKitex = semconv.RPCSystemNameKey.String("kitex")

// callBounds are the semantic conventions' bounds for the duration of calls, in
// seconds.
var callBounds = []float64{0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10}

// pickBounds are for picks, which take less than a microsecond.
var pickBounds = []float64{5e-8, 1e-7, 2e-7, 5e-7, 1e-6, 2e-6, 5e-6, 1e-5, 1e-4, 1e-3}

// metricsConfig is what both suites' metrics are made with.
type metricsConfig struct {
	provider      metric.MeterProvider // nil: the global one
	instances     int                  // how many get a label
	pickDurations bool
}

// MetricOption works for both suites.
type MetricOption interface {
	ClientOption
	ServerOption
}

type metricOption func(*metricsConfig)

func (f metricOption) applyClient(c *clientConfig) error {
	f(&c.metrics)
	return nil
}

func (f metricOption) applyServer(s *serverSuite) error {
	f(&s.metrics)
	return nil
}

// WithMeterProvider sets where metrics go. Defaults to OpenTelemetry's global
// provider; nil keeps the default. Without an SDK in the program nothing is
// measured.
func WithMeterProvider(provider metric.MeterProvider) MetricOption {
	return metricOption(func(c *metricsConfig) {
		if provider != nil {
			c.provider = provider
		}
	})
}

// DefaultInstanceLabels is how many instances [WithInstanceLabel] tells apart if it
// is given 0.
const DefaultInstanceLabels = 200

// WithInstanceLabel adds the instance's address to the duration of calls, for the
// first most instances that this suite calls; all others together are "other".
// Without it no metric tells instances apart, since services may have thousands.
func WithInstanceLabel(most int) ClientOption {
	return clientOption(func(c *clientConfig) error {
		if most < 0 {
			return fault.Invalid("WithInstanceLabel", "%d is below 0", most)
		}
		if c.metrics.instances = most; most == 0 {
			c.metrics.instances = DefaultInstanceLabels
		}
		return nil
	})
}

// WithPickDuration measures how long picks take, which costs two looks at the
// clock for each.
func WithPickDuration() ClientOption {
	return clientOption(func(c *clientConfig) error {
		c.metrics.pickDurations = true
		return nil
	})
}

func (c *metricsConfig) meter() metric.Meter {
	provider := c.provider
	if provider == nil {
		provider = otel.GetMeterProvider()
	}
	return provider.Meter(ScopeName, metric.WithInstrumentationVersion(Version), metric.WithSchemaURL(semconv.SchemaURL))
}

// instruments makes instruments and keeps the first error.
type instruments struct {
	meter metric.Meter
	err   error
}

func (i *instruments) note(err error) {
	if i.err == nil && err != nil {
		i.err = fmt.Errorf("fairway: make the instruments: %w", err)
	}
}

func (i *instruments) seconds(name, description string, bounds []float64) metric.Float64Histogram {
	h, err := i.meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(description), metric.WithExplicitBucketBoundaries(bounds...))
	i.note(err)
	return h
}

func (i *instruments) counter(name, unit, description string) metric.Int64Counter {
	c, err := i.meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
	i.note(err)
	return c
}

func (i *instruments) active(name, description string) metric.Int64ObservableUpDownCounter {
	c, err := i.meter.Int64ObservableUpDownCounter(name, metric.WithUnit("{call}"), metric.WithDescription(description))
	i.note(err)
	return c
}

func (i *instruments) observedCounter(name, unit, description string) metric.Int64ObservableCounter {
	c, err := i.meter.Int64ObservableCounter(name, metric.WithUnit(unit), metric.WithDescription(description))
	i.note(err)
	return c
}
