// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"context"

	"github.com/fairway-rpc/fairway/internal/fault"
)

// Option configures a [Balancer]. An option that a policy does not use is
// accepted and ignored.
type Option interface{ apply(*config) error }

type optionFunc func(*config) error

func (f optionFunc) apply(c *config) error { return f(c) }

// config is what a policy is built with.
type config struct {
	hash         func(ctx context.Context, request any) (uint64, bool)
	rand         Rand
	virtualNodes int
}

// DefaultVirtualNodes is the number of points that an instance of weight 10
// has on the ring of [ConsistentHash].
const DefaultVirtualNodes = 160

// maxVirtualNodes bounds a ring's share of one instance.
const maxVirtualNodes = 1 << 16

func newConfig(opts []Option) (*config, error) {
	c := &config{rand: runtimeRand{}, virtualNodes: DefaultVirtualNodes}
	for _, o := range opts {
		if o == nil {
			continue
		}
		if err := o.apply(c); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// WithVirtualNodes sets the number of points on the ring of [ConsistentHash]
// for an instance of weight 10; others have points in proportion, at least
// one. More points spread keys more evenly and take more memory. Between 1 and
// 65,536; all callers of a service must use the same number to agree on who
// has a key. Defaults to 160.
func WithVirtualNodes(n int) Option {
	return optionFunc(func(c *config) error {
		if n < 1 || n > maxVirtualNodes {
			return fault.Invalid("WithVirtualNodes", "%d is not between 1 and %d", n, maxVirtualNodes)
		}
		c.virtualNodes = n
		return nil
	})
}
