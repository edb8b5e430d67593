// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"fmt"

	"github.com/cloudwego/kitex/client"
	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"

	"github.com/fairway-rpc/fairway/internal/fault"
	"github.com/fairway-rpc/fairway/loadbalance"
)

// NewClientSuite is all that a consumer needs in one client option: the
// resolver, the balancer, exact counts of the calls in flight, word of how calls
// went, and a span for each pick. Any Kitex resolver works; Fairway's adds the live view. Both stay
// the caller's, who may share them among clients.
//
// By Kitex's rule the last option wins: hosts given by WithHostPorts before the
// suite are overridden, which is logged, and after it override the resolver.
// It panics with an error that wraps [ErrInvalidConfig] if something is nil or
// an option bad, as Kitex's options do.
func NewClientSuite(res kdiscovery.Resolver, lb *loadbalance.Balancer, opts ...ClientOption) client.Suite {
	if res == nil {
		panic(fault.Invalid("NewClientSuite", "the resolver is nil"))
	}
	if lb == nil {
		panic(fault.Invalid("NewClientSuite", "the balancer is nil"))
	}
	c := &clientConfig{}
	for _, o := range opts {
		if o == nil {
			continue
		}
		if err := o.applyClient(c); err != nil {
			panic(err)
		}
	}
	if err := c.prepare(lb); err != nil {
		panic(err)
	}
	m, err := newClientMetrics(&c.metrics, lb)
	if err != nil {
		panic(fault.Invalid("WithMeterProvider", "%w", err))
	}
	lb.OnEject(res.Name(), m.ejected)
	return &clientSuite{resolver: res, balancer: lb.Observed(observerOf(newPickSpans(&c.traceConfig), newPickLog(c.pickLog))), metrics: m}
}

// prepare tells the balancer what it is to do besides picking.
func (c *clientConfig) prepare(lb *loadbalance.Balancer) error {
	if c.ejection != nil {
		if err := lb.Eject(*c.ejection); err != nil {
			return err
		}
	}
	if c.health != nil {
		return lb.CheckHealth(*c.health)
	}
	return nil
}

type clientSuite struct {
	resolver kdiscovery.Resolver
	balancer *loadbalance.Balancer
	metrics  *clientMetrics
}

// String is what Kitex prints of the suite.
func (s *clientSuite) String() string {
	return fmt.Sprintf("fairway(%s, %s)", s.resolver.Name(), s.balancer.Name())
}

// Options implements Kitex's client.Suite.
func (s *clientSuite) Options() []client.Option {
	return []client.Option{
		tellOverridden(),
		s.resolveAndFollow(),
		client.WithLoadBalancer(s.balancer),
		client.WithMiddleware(s.metrics.beginAttempt),
		s.metrics.observeWhileOpen(),
		client.WithInstanceMW(countInFlight),
		client.WithStreamOptions(streamEvents()),
		s.registerProbes(),
		s.tellUnused(),
	}
}
