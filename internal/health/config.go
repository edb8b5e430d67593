// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"fmt"
	"time"
)

// Config says how often targets are checked and what makes a verdict. Fields that
// are zero stand for their defaults.
type Config struct {
	// Interval is the time from the end of a check to the next one of the same
	// target, give or take a tenth. The first checks are spread over it. Defaults
	// to 10 s.
	Interval time.Duration
	// FastInterval takes the place of Interval while a target is unhealthy or its
	// latest check contradicts the verdict on it. Defaults to 1 s, or Interval if
	// that is shorter.
	FastInterval time.Duration
	// Timeout is how long a check may take. Defaults to 1 s.
	Timeout time.Duration
	// Unhealthy is how many checks in a row must fail for a target to become
	// unhealthy. Defaults to 3.
	Unhealthy int
	// Healthy is how many must succeed for it to become healthy again. Defaults
	// to 2.
	Healthy int
	// Concurrency is the greatest number of checks at a time. Defaults to 16.
	Concurrency int
}

// withDefaults returns c with its zero fields set.
func (c Config) withDefaults() Config {
	c.Interval = cmp.Or(c.Interval, 10*time.Second)
	c.FastInterval = cmp.Or(c.FastInterval, min(time.Second, c.Interval))
	c.Timeout = cmp.Or(c.Timeout, time.Second)
	c.Unhealthy = cmp.Or(c.Unhealthy, 3)
	c.Healthy = cmp.Or(c.Healthy, 2)
	c.Concurrency = cmp.Or(c.Concurrency, 16)
	return c
}

// shortest is the least interval: what is asked more often has no time to work.
const shortest = 10 * time.Millisecond

// validate returns an error that names the first field with a value that makes no
// sense.
func (c Config) validate() error {
	switch {
	case c.Interval < shortest:
		return wrong("Interval", c.Interval, "at least 10ms, or 0 for the default")
	case c.FastInterval < shortest || c.FastInterval > c.Interval:
		return wrong("FastInterval", c.FastInterval, "between 10ms and Interval, or 0 for the default")
	case c.Timeout < 0:
		return wrong("Timeout", c.Timeout, "above 0, or 0 for the default")
	case c.Unhealthy < 0:
		return wrong("Unhealthy", c.Unhealthy, "at least 1, or 0 for the default")
	case c.Healthy < 0:
		return wrong("Healthy", c.Healthy, "at least 1, or 0 for the default")
	case c.Concurrency < 0:
		return wrong("Concurrency", c.Concurrency, "at least 1, or 0 for the default")
	}
	return nil
}

func wrong(field string, value any, must string) error {
	return fmt.Errorf("%s is %v; it must be %s", field, value, must)
}
