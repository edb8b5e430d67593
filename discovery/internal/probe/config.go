// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"cmp"
	"context"
	"time"
)

// Config bounds the probes of a [Prober]. Fields that are zero or negative
// stand for their defaults.
type Config struct {
	// Timeout is how long one probe may take. Defaults to 1 s.
	Timeout time.Duration
	// Interval is the wait after a probe that was answered, give or take a
	// fifth. Defaults to 5 s. It stretches when there are more suspects than
	// Rate and Concurrency allow for.
	Interval time.Duration
	// Retry is the wait after a probe that failed. Defaults to 1 s.
	Retry time.Duration
	// Concurrency is the greatest number of probes in flight. Defaults to 16.
	Concurrency int
	// Rate is the greatest number of probes that begin within a second, evenly
	// spread. Defaults to 100.
	Rate int
	// Dial makes one connection and closes it. It must return soon after ctx
	// has ended. Defaults to a net.Dialer.
	Dial func(ctx context.Context, network, address string) error
}

func (c Config) withDefaults() Config {
	c.Timeout = positive(c.Timeout, time.Second)
	c.Interval = positive(c.Interval, 5*time.Second)
	c.Retry = positive(c.Retry, time.Second)
	c.Concurrency = positive(c.Concurrency, 16)
	c.Rate = positive(c.Rate, 100)
	if c.Dial == nil {
		c.Dial = dial
	}
	return c
}

func positive[T cmp.Ordered](value, otherwise T) T {
	var zero T
	if value > zero {
		return value
	}
	return otherwise
}
