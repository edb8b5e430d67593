// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"log/slog"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"

	"github.com/fairway-rpc/fairway/internal/fault"
	"github.com/fairway-rpc/fairway/loadbalance"
)

// ClientOption configures [NewClientSuite].
type ClientOption interface{ applyClient(*clientConfig) error }

// TraceOption configures [TracePicks].
type TraceOption interface{ applyTrace(*traceConfig) error }

// SpanOption works for [NewClientSuite] and for [TracePicks].
type SpanOption interface {
	ClientOption
	TraceOption
}

type clientConfig struct {
	traceConfig

	metrics  metricsConfig
	ejection *loadbalance.Ejection
	health   *loadbalance.HealthCheck
	pickLog  *slog.Logger // nil: none
}

type clientOption func(*clientConfig) error

func (f clientOption) applyClient(c *clientConfig) error { return f(c) }

// Ejection is what [WithEjection] takes; its zero value is the default.
type Ejection = loadbalance.Ejection

// WithEjection sets instances aside that fail or are far slower than the others,
// for a growing time, and never more than a share of them. Without it only a
// failure to get a connection sets an instance aside. It applies to the balancer:
// clients that share one share this.
func WithEjection(e Ejection) ClientOption {
	return clientOption(func(c *clientConfig) error {
		c.ejection = &e
		return nil
	})
}

// HealthCheck is what [WithHealthCheck] takes; its zero value connects by TCP every
// ten seconds.
type HealthCheck = loadbalance.HealthCheck

// WithHealthCheck has this process check the instances of the services that it
// calls, takes unhealthy ones off and back, and probes ejected ones before they
// return. It applies to the balancer: clients that share one share this.
func WithHealthCheck(h HealthCheck) ClientOption {
	return clientOption(func(c *clientConfig) error {
		c.health = &h
		return nil
	})
}

type traceConfig struct {
	mode     PickSpans
	provider trace.TracerProvider // nil: the global one
}

type spanOption func(*traceConfig) error

func (f spanOption) applyClient(c *clientConfig) error { return f(&c.traceConfig) }
func (f spanOption) applyTrace(c *traceConfig) error   { return f(c) }

// PickSpans says which picks get a span.
type PickSpans int

const (
	// PickSpansSampled makes a child where the span in the context is recorded
	// or sampled. Without any span in the context it makes a root only if
	// WithTracerProvider was given.
	PickSpansSampled PickSpans = iota
	// PickSpansAll starts a span for every pick and leaves it to the sampler.
	PickSpansAll
	// PickSpansOff makes none.
	PickSpansOff
)

// WithPickSpans says which picks get a span. Defaults to [PickSpansSampled].
func WithPickSpans(mode PickSpans) SpanOption {
	return spanOption(func(c *traceConfig) error {
		if mode < PickSpansSampled || mode > PickSpansOff {
			return fault.Invalid("WithPickSpans", "%d is none of the modes", mode)
		}
		c.mode = mode
		return nil
	})
}

// WithTracerProvider sets where spans come from. Defaults to OpenTelemetry's
// global provider; nil keeps the default.
func WithTracerProvider(provider trace.TracerProvider) SpanOption {
	return spanOption(func(c *traceConfig) error {
		if provider != nil {
			c.provider = provider
		}
		return nil
	})
}

func (c *traceConfig) tracerProvider() trace.TracerProvider {
	if c.provider != nil {
		return c.provider
	}
	return otel.GetTracerProvider()
}
