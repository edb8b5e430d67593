// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"context"

	"github.com/cloudwego/kitex/pkg/endpoint"

	"github.com/fairway-rpc/fairway/internal/pick"
)

// beginAttempt stands outside Kitex's resolver and gives what lies below it one
// place to leave word for each other.
func beginAttempt(next endpoint.Endpoint) endpoint.Endpoint {
	return func(ctx context.Context, request, response any) error {
		return next(pick.Begin(ctx), request, response)
	}
}

// countInFlight stands below the pick, once for each attempt on an instance.
// The deferred End comes when the attempt really ends, also after Kitex has
// given the caller a timeout, and also for a panic. A stream is counted until
// it has been opened.
func countInFlight(next endpoint.Endpoint) endpoint.Endpoint {
	return func(ctx context.Context, request, response any) error {
		attempt := pick.From(ctx)
		if attempt == nil || attempt.Picked == nil {
			return next(ctx, request, response)
		}
		node := attempt.Picked
		if !attempt.Counted {
			node.Begin()
		}
		attempt.Taken = true
		defer node.End()
		return next(ctx, request, response)
	}
}
