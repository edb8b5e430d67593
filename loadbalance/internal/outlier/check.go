// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package outlier

import (
	"fmt"
	"time"
)

// shortest is the least interval: a shorter one holds next to no calls and only
// costs time.
const shortest = 10 * time.Millisecond

// Check returns an error that names the first field with a value that makes no
// sense, and says which do.
func (c *Config) Check() error {
	return firstOf(
		wrong(c.Interval < shortest, "Interval", c.Interval, "at least 10ms"),
		wrong(c.BaseTime <= 0, "BaseTime", c.BaseTime, "above 0"),
		wrong(c.MaxTime < c.BaseTime, "MaxTime", c.MaxTime, "at least BaseTime"),
		wrong(!(c.MaxShare > 0 && c.MaxShare <= 1), "MaxShare", c.MaxShare, "above 0 and at most 1"),
		wrong(c.ConsecutiveFailures < 0, "ConsecutiveFailures", c.ConsecutiveFailures, "at least 1, or 0 to turn it off"),
		c.SuccessRate.check(),
		c.FailureShare.check(),
		c.Latency.check(),
	)
}

func (s SuccessRate) check() error {
	if s.StdevFactor == 0 {
		return nil
	}
	return firstOf(
		wrong(!(s.StdevFactor > 0), "SuccessRate.StdevFactor", s.StdevFactor, "above 0, or 0 to turn it off"),
		wrong(!(s.MinDelta >= 0 && s.MinDelta < 1), "SuccessRate.MinDelta", s.MinDelta, "at least 0 and below 1"),
		checkMinima("SuccessRate", s.MinHosts, s.MinCalls),
	)
}

func (f FailureShare) check() error {
	if f.Threshold == 0 {
		return nil
	}
	return firstOf(
		wrong(!(f.Threshold > 0 && f.Threshold <= 1), "FailureShare.Threshold", f.Threshold, "above 0 and at most 1, or 0 to turn it off"),
		checkMinima("FailureShare", f.MinHosts, f.MinCalls),
	)
}

func (l Latency) check() error {
	if l.Factor == 0 {
		return nil
	}
	return firstOf(
		wrong(!(l.Factor > 1), "Latency.Factor", l.Factor, "above 1, or 0 to turn it off"),
		wrong(l.MinDelta < 0, "Latency.MinDelta", l.MinDelta, "at least 0"),
		checkMinima("Latency", l.MinHosts, l.MinCalls),
	)
}

// checkMinima: a host alone has no peers.
func checkMinima(of string, hosts, calls int) error {
	return firstOf(
		wrong(hosts < 2, of+".MinHosts", hosts, "at least 2"),
		wrong(calls < 1, of+".MinCalls", calls, "at least 1"),
	)
}

func wrong(is bool, field string, value any, must string) error {
	if !is {
		return nil
	}
	return fmt.Errorf("%s is %v; it must be %s", field, value, must)
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
