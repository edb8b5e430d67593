// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package outlier

// Cause is why a host was ejected, in the word that logs and spans say. One that
// is an outlier in several ways is ejected for the first of them in this order.
type Cause string

const (
	// CauseConsecutive is for so many calls in a row that failed.
	CauseConsecutive Cause = "consecutive_failures"
	// CauseFailureShare is for a share of failed calls that is too high in itself.
	CauseFailureShare Cause = "failure_share"
	// CauseSuccessRate is for a rate of calls that succeed far below the peers'.
	CauseSuccessRate Cause = "success_rate"
	// CauseLatency is for calls that take far longer than the peers'.
	CauseLatency Cause = "latency"
)

// Ejection is the immutable state of a host that is ejected.
type Ejection struct {
	Cause Cause
	// Since and Until bound it. It ends with the first sweep at or after Until.
	Since, Until int64
	// Multiplier is how many times BaseTime it lasts.
	Multiplier int
	// Value is the host's, by cause: the failures in a row, the share of calls that
	// failed, the rate of those that succeeded, the mean latency in nanoseconds.
	Value float64
	// Peers is what Value was compared with: the limit for the first two causes, the
	// median of the hosts for the others.
	Peers float64
}
