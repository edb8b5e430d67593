// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/cloudwego/kitex/pkg/registry"
	"github.com/cloudwego/kitex/pkg/rpcinfo"
	"github.com/cloudwego/kitex/server"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/internal/fault"
	"github.com/fairway-rpc/fairway/internal/weight"
)

// ServerOption configures [NewServerSuite].
type ServerOption interface{ applyServer(*serverSuite) error }

type serverOption func(*serverSuite) error

func (f serverOption) applyServer(s *serverSuite) error { return f(s) }

// WithWeight sets the weight that the provider registers: its share of the
// calls beside the others' weights. 0 registers a provider that gets none.
// Between 0 and 2^31-1. Defaults to 10.
func WithWeight(n int) ServerOption {
	return serverOption(func(s *serverSuite) error {
		if n < 0 || n > maxWeight {
			return fault.Invalid("WithWeight", "%d is not between 0 and %d", n, maxWeight)
		}
		s.weight = n
		if n == 0 {
			s.weight = weight.Zero
		}
		return nil
	})
}

const maxWeight = 1<<31 - 1

// WithTags sets the tags that the provider registers. The map is copied.
func WithTags(tags map[string]string) ServerOption {
	return serverOption(func(s *serverSuite) error {
		s.tags = maps.Clone(tags)
		return nil
	})
}

// WithWarmUp has consumers let the provider's share of the calls grow linearly
// over a time, which begins when they first see it. Consumers with other
// balancers than Fairway's give it its whole share at once. From 0, the default,
// which means the same, to an hour.
func WithWarmUp(d time.Duration) ServerOption {
	return serverOption(func(s *serverSuite) error {
		if d < 0 || d > maxWarmUp {
			return fault.Invalid("WithWarmUp", "%v is not between 0 and %v", d, maxWarmUp)
		}
		s.warmUp = d
		return nil
	})
}

const maxWarmUp = time.Hour

// NewServerSuite is all that a provider needs in one server option: the
// registry, the service's name and what is registered with it. Use a suite for
// one server. It panics with an error that wraps [ErrInvalidConfig] if the
// registry is nil, the name is not one, or an option is bad, as Kitex's options
// do.
func NewServerSuite(reg *discovery.Registry, service string, opts ...ServerOption) server.Suite {
	if reg == nil {
		panic(fault.Invalid("NewServerSuite", "the registry is nil"))
	}
	if err := discovery.CheckServiceName(service); err != nil {
		panic(err)
	}
	s := &serverSuite{registry: reg, service: service}
	for _, o := range opts {
		if o == nil {
			continue
		}
		if err := o.applyServer(s); err != nil {
			panic(err)
		}
	}
	var err error
	if s.measured, err = newServerMetrics(&s.metrics); err != nil {
		panic(fault.Invalid("WithMeterProvider", "%w", err))
	}
	return s
}

type serverSuite struct {
	registry *discovery.Registry
	service  string
	further  []string // names besides service
	weight   int      // as Kitex's registry.Info has it
	tags     map[string]string
	warmUp   time.Duration

	metrics  metricsConfig
	measured *serverMetrics

	ready      func(ctx context.Context) error // nil: always
	readyEvery time.Duration
}

// String is what Kitex prints of the suite.
func (s *serverSuite) String() string { return fmt.Sprintf("fairway(%s, %s)", s.registry, s.service) }

// Options implements Kitex's server.Suite. Kitex writes into the info that it
// is given, so each call makes a fresh one.
func (s *serverSuite) Options() []server.Option {
	return []server.Option{
		server.WithServerBasicInfo(&rpcinfo.EndpointBasicInfo{ServiceName: s.service}),
		server.WithRegistry(s.kitexRegistry()),
		server.WithMiddleware(s.measured.measure),
		server.WithRegistryInfo(&registry.Info{Weight: s.weight, Tags: maps.Clone(s.tags), WarmUp: s.warmUp}),
	}
}

func (s *serverSuite) kitexRegistry() registry.Registry {
	var r registry.Registry = s.registry
	if len(s.further) > 0 {
		r = &manyNames{Registry: s.registry, further: s.further}
	}
	if s.ready == nil {
		return r
	}
	return &readyRegistry{
		Registry: r,
		reg:      s.registry,
		services: append([]string{s.service}, s.further...),
		check:    s.ready,
		every:    s.readyEvery,
	}
}
