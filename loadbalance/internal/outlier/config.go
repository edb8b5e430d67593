// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package outlier

import "time"

// Config says who is an outlier and for how long it is ejected. [Defaults] has
// the values to start from; a zero threshold (ConsecutiveFailures, StdevFactor,
// Threshold, Factor) turns its cause off.
type Config struct {
	// Interval is the time between two comparisons. Defaults to 1 s.
	Interval time.Duration
	// BaseTime is how long the first ejection lasts. Defaults to 30 s.
	BaseTime time.Duration
	// MaxTime is the longest that one lasts. Defaults to 300 s.
	MaxTime time.Duration
	// MaxShare is the greatest share of the hosts that are ejected at a time,
	// rounded down: at 0.5 one host of two or three, none of one; at 0.1 none of
	// fewer than ten. Defaults to 0.5.
	MaxShare float64
	// ConsecutiveFailures is how many calls in a row must have failed. Defaults
	// to 5.
	ConsecutiveFailures int

	SuccessRate  SuccessRate
	FailureShare FailureShare
	Latency      Latency
}

// SuccessRate ejects hosts of which fewer calls succeed than of their peers.
type SuccessRate struct {
	// StdevFactor is how many standard deviations a rate must be below the median.
	// Defaults to 1.9.
	StdevFactor float64
	// MinDelta is by how much it must be below. Defaults to 0.1.
	MinDelta float64
	// MinHosts must have MinCalls each before hosts are compared, and only those
	// that have are. They default to 3 and 20.
	MinHosts, MinCalls int
}

// FailureShare ejects hosts of which a share of the calls fail, whatever their
// peers do, as long as there is one that stays below.
type FailureShare struct {
	// Threshold is the share, between 0 and 1, at which a host is ejected. Defaults
	// to 0.85.
	Threshold float64
	// MinHosts and MinCalls are as in [SuccessRate]. They default to 2 and 20.
	MinHosts, MinCalls int
}

// Latency ejects hosts whose calls take far longer than those of their peers. Only
// calls that succeeded count.
type Latency struct {
	// Factor is how many times the median a host's mean must exceed. Calls vary, so
	// that the mean is first lowered by three times its standard error: a single stall
	// ejects nobody. Defaults to 3.
	Factor float64
	// MinDelta is by how much the mean must exceed the median. Defaults to 10 ms.
	MinDelta time.Duration
	// MinHosts and MinCalls are as in [SuccessRate]. They default to 3 and 20.
	MinHosts, MinCalls int
}

// Defaults returns the configuration in which every field has its default.
func Defaults() Config {
	return Config{
		Interval:            time.Second,
		BaseTime:            30 * time.Second,
		MaxTime:             300 * time.Second,
		MaxShare:            0.5,
		ConsecutiveFailures: 5,
		SuccessRate:         SuccessRate{StdevFactor: 1.9, MinDelta: 0.1, MinHosts: 3, MinCalls: 20},
		FailureShare:        FailureShare{Threshold: 0.85, MinHosts: 2, MinCalls: 20},
		Latency:             Latency{Factor: 3, MinDelta: 10 * time.Millisecond, MinHosts: 3, MinCalls: 20},
	}
}
