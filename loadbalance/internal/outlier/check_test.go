// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package outlier

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestDefaultsPass(t *testing.T) {
	cfg := Defaults()
	if err := cfg.Check(); err != nil {
		t.Error(err)
	}
}

func TestCheckNamesTheField(t *testing.T) {
	for field, spoil := range map[string]func(*Config){
		"Interval":                func(c *Config) { c.Interval = time.Millisecond },
		"BaseTime":                func(c *Config) { c.BaseTime = 0 },
		"MaxTime":                 func(c *Config) { c.MaxTime = c.BaseTime - 1 },
		"MaxShare":                func(c *Config) { c.MaxShare = 1.01 },
		"ConsecutiveFailures":     func(c *Config) { c.ConsecutiveFailures = -1 },
		"SuccessRate.StdevFactor": func(c *Config) { c.SuccessRate.StdevFactor = math.NaN() },
		"SuccessRate.MinDelta":    func(c *Config) { c.SuccessRate.MinDelta = 1 },
		"SuccessRate.MinHosts":    func(c *Config) { c.SuccessRate.MinHosts = 1 },
		"SuccessRate.MinCalls":    func(c *Config) { c.SuccessRate.MinCalls = 0 },
		"FailureShare.Threshold":  func(c *Config) { c.FailureShare.Threshold = 85 },
		"FailureShare.MinHosts":   func(c *Config) { c.FailureShare.MinHosts = 0 },
		"FailureShare.MinCalls":   func(c *Config) { c.FailureShare.MinCalls = -1 },
		"Latency.Factor":          func(c *Config) { c.Latency.Factor = 1 },
		"Latency.MinDelta":        func(c *Config) { c.Latency.MinDelta = -1 },
		"Latency.MinHosts":        func(c *Config) { c.Latency.MinHosts = 0 },
		"Latency.MinCalls":        func(c *Config) { c.Latency.MinCalls = 0 },
	} {
		cfg := Defaults()
		spoil(&cfg)
		if err := cfg.Check(); err == nil || !strings.HasPrefix(err.Error(), field+" is ") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// TestCheckLeavesAloneWhatIsOff: the other fields of a cause that is off do not
// matter.
func TestCheckLeavesAloneWhatIsOff(t *testing.T) {
	cfg := Defaults()
	cfg.ConsecutiveFailures = 0
	cfg.SuccessRate, cfg.FailureShare, cfg.Latency = SuccessRate{}, FailureShare{}, Latency{}
	if err := cfg.Check(); err != nil {
		t.Error(err)
	}
}
