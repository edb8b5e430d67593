// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"context"
	"time"

	"github.com/fairway-rpc/fairway/internal/fault"
)

// Option configures a [Balancer]. An option that a policy does not use is
// accepted and ignored.
type Option interface{ apply(*config) error }

type optionFunc func(*config) error

func (f optionFunc) apply(c *config) error { return f(c) }

// config is what a policy is built with.
type config struct {
	made         time.Time
	hash         func(ctx context.Context, request any) (uint64, bool)
	optionalKey  bool
	rand         generator
	virtualNodes int
	loadFactor   float64
	unweighted   bool
	hashWarmUp   bool
	perWeight    bool

	filters      []TagFilter
	zone         zone
	subsetSize   int // 0: all
	subsetCaller string
	affinityKey  func(ctx context.Context, request any) string // nil: none
	affinityTime time.Duration
}

// now is the present in nanoseconds, above 0, on the monotonic clock.
func (c *config) now() int64 { return int64(time.Since(c.made)) + 1 }

// DefaultVirtualNodes is the number of points that an instance of weight 10
// has on the ring of [ConsistentHash], [BoundedHash] and [SourceHash].
const DefaultVirtualNodes = 160

// maxVirtualNodes bounds a ring's share of one instance.
const maxVirtualNodes = 1 << 16

func newConfig(opts []Option) (*config, error) {
	c := &config{made: time.Now(), virtualNodes: DefaultVirtualNodes, loadFactor: DefaultLoadFactor}
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

// WithVirtualNodes sets the number of points on the ring of the policies that
// have one, for an instance of weight 10; others have points in proportion, at least
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

// DefaultLoadFactor is how many times its share of the calls in flight an
// instance may have under [BoundedHash].
const DefaultLoadFactor = 1.25

// maxLoadFactor bounds what can be told from no bound.
const maxLoadFactor = 1000

// WithLoadFactor sets how many times its share of the calls in flight an
// instance may have under [BoundedHash], rounded up to whole calls. A smaller
// factor spreads load more evenly and takes keys away from their instances more
// often. Above 1 and at most 1,000. Defaults to 1.25.
func WithLoadFactor(factor float64) Option {
	return optionFunc(func(c *config) error {
		if !(factor > 1 && factor <= maxLoadFactor) { // so written, it refuses NaN
			return fault.Invalid("WithLoadFactor", "%v is not above 1 and at most %d", factor, maxLoadFactor)
		}
		c.loadFactor = factor
		return nil
	})
}

// Unweighted has the policy take all instances as equally heavy, but for those
// of weight 0, which get nothing all the same.
func Unweighted() Option {
	return optionFunc(func(c *config) error {
		c.unweighted = true
		return nil
	})
}

// WithHashWarmUp lets instances that warm up grow into their keys under the
// policies that hash by weight, too. At each step a few keys move to them; without
// it they have all of their keys at once.
func WithHashWarmUp() Option {
	return optionFunc(func(c *config) error {
		c.hashWarmUp = true
		return nil
	})
}

// WithPerWeight has [LeastActive] compare (calls in flight + 1) / weight instead
// of the calls alone: a heavier instance is to have more of them. Without it
// weights only decide between instances that have equally few.
func WithPerWeight() Option {
	return optionFunc(func(c *config) error {
		c.perWeight = true
		return nil
	})
}
