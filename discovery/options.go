// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/fairway-rpc/fairway/internal/logging"
)

// Option works for a [Registry], a [Resolver] and [Rules].
type Option interface {
	RegistryOption
	ResolverOption
	RuleOption
}

// RegistryOption configures a [Registry].
type RegistryOption interface{ applyRegistry(*registryConfig) error }

// ResolverOption configures a [Resolver].
type ResolverOption interface{ applyResolver(*resolverConfig) error }

// common is what both sides are configured with.
type common struct {
	keys          keyspace
	log           *slog.Logger
	meterProvider metric.MeterProvider // nil for the global one
}

type registryConfig struct {
	common
	ttl         time.Duration
	advertise   string
	drainDelay  time.Duration
	failFast    bool
	hideDrained bool
	sources     []*weightSource
	onStatus    func(RegistrationStatus)
	timing      timing
}

type resolverConfig struct {
	common
	cluster        string
	snapshotDir    string
	noSnapshots    bool
	maxSnapshotAge time.Duration
	resolveTimeout time.Duration
	maxServices    int
	guard          Guard

	verifyEvery time.Duration // 0 turns it off, as only tests do
	noJitter    bool          // the same
}

// saveEvery is how often a copy is written for the sake of its age alone.
func (c *resolverConfig) saveEvery() time.Duration {
	if c.maxSnapshotAge > 0 {
		return min(c.maxSnapshotAge/4, idleAfter)
	}
	return idleAfter
}

// Defaults of the options.
const (
	DefaultTTL            = 10 * time.Second
	DefaultDrainDelay     = 2 * time.Second
	DefaultResolveTimeout = time.Second
	DefaultMaxServices    = 4096
)

type (
	commonOption   func(*common) error
	registryOption func(*registryConfig) error
	resolverOption func(*resolverConfig) error
)

func (f commonOption) applyRegistry(c *registryConfig) error   { return f(&c.common) }
func (f commonOption) applyResolver(c *resolverConfig) error   { return f(&c.common) }
func (f registryOption) applyRegistry(c *registryConfig) error { return f(c) }
func (f resolverOption) applyResolver(c *resolverConfig) error { return f(c) }

func newCommon() common {
	return common{keys: keyspace{prefix: DefaultPrefix}, log: logging.Default()}
}

func newRegistryConfig(opts []RegistryOption) (*registryConfig, error) {
	c := &registryConfig{common: newCommon(), drainDelay: -1, timing: defaultTiming}
	for _, o := range opts {
		if o == nil {
			continue
		}
		if err := o.applyRegistry(c); err != nil {
			return nil, err
		}
	}
	if c.drainDelay < 0 {
		c.drainDelay = defaultDrainDelay(c.keys)
	}
	if c.ttl == 0 {
		ttl, err := defaultTTL()
		if err != nil {
			return nil, err
		}
		c.ttl = ttl
	}
	return c, nil
}

// defaultDrainDelay is longer where old consumers poll every five seconds.
func defaultDrainDelay(keys keyspace) time.Duration {
	if keys.prefix == registryEtcdPrefix {
		return 6 * time.Second
	}
	return DefaultDrainDelay
}

// registryEtcdPrefix is the default prefix of kitex-contrib/registry-etcd.
const registryEtcdPrefix = "kitex/registry-etcd"

func newResolverConfig(opts []ResolverOption) (*resolverConfig, error) {
	c := &resolverConfig{
		common:         newCommon(),
		resolveTimeout: DefaultResolveTimeout,
		maxServices:    DefaultMaxServices,
		guard:          Guard{}.withDefaults(),
		verifyEvery:    verifyEvery,
	}
	for _, o := range opts {
		if o == nil {
			continue
		}
		if err := o.applyResolver(c); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// WithPrefix sets the prefix of all keys. Trailing slashes are dropped.
// Defaults to "fairway". With "kitex/registry-etcd" providers and consumers
// share a registry with those of kitex-contrib/registry-etcd.
func WithPrefix(prefix string) Option {
	return commonOption(func(c *common) (err error) {
		c.keys, err = newKeyspace(prefix)
		return err
	})
}

// WithLogger sets where log lines go. Defaults to Kitex's klog; nil keeps the
// default.
func WithLogger(logger *slog.Logger) Option {
	return commonOption(func(c *common) error {
		if logger != nil {
			c.log = logger
		}
		return nil
	})
}

// WithMeterProvider sets where the metrics go. Defaults to OpenTelemetry's
// global provider; nil keeps the default.
func WithMeterProvider(provider metric.MeterProvider) Option {
	return commonOption(func(c *common) error {
		if provider != nil {
			c.meterProvider = provider
		}
		return nil
	})
}
