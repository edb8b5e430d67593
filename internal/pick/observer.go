// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package pick

import (
	"context"
	"time"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
)

// Observer is told about picks.
type Observer interface {
	// Wants is asked before each pick and must cost next to nothing.
	Wants(ctx context.Context) bool
	// Picked is called after a pick that was wanted.
	Picked(ctx context.Context, p *Pick)
}

// Pick is what can be said about one pick.
type Pick struct {
	Policy string
	Start  time.Time
	// Candidates is the number of instances that could have been picked.
	Candidates int
	// Instance is nil when nobody was found, and Err says why.
	Instance kdiscovery.Instance
	Weight   int
	Err      error
	// Counts tells that InFlight is known: the calls under way on the instance
	// before this one.
	Counts   bool
	InFlight int64
	// Retry is Kitex's number of the retry, empty for the first attempt, and
	// Excluded the number of instances passed over because they had just failed.
	Retry    string
	Excluded int
	// Subset names the group that filters left, "" without filters.
	Subset string
	// Aside is the number of candidates that calls avoid for a while.
	Aside int
	// Suspect tells that the instance is kept on suspicion of the registry only.
	Suspect bool
	// Live tells that the candidates come from a watched snapshot, which the
	// following fields describe.
	Live     bool
	Revision int64
	Age      time.Duration
	Stale    bool
	Source   string
	Suspects int
}
