// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"context"

	"github.com/cloudwego/kitex/pkg/endpoint"
	"github.com/cloudwego/kitex/pkg/rpcinfo"

	"github.com/fairway-rpc/fairway/internal/pick"
)

// beginAttempt stands outside Kitex's resolver and gives what lies below it one
// place to leave word for each other.
func beginAttempt(next endpoint.Endpoint) endpoint.Endpoint {
	return func(ctx context.Context, request, response any) error {
		attempt := pick.Begin(ctx)
		returned := false
		defer func() {
			// A panic between the pick and countInFlight: Kitex does not recycle
			// the picker then, so that nobody else ends the count.
			if !returned && attempt.Counted && !attempt.Taken {
				attempt.Picked.End()
			}
		}()
		err := next(attempt, request, response)
		returned = true
		return err
	}
}

// countInFlight stands below the pick, once for each attempt on an instance, or
// more often if a middleware above it tries again by itself. What the balancer
// has counted is taken over the first time, and the node is told how the attempt
// went. The deferred End comes when the
// attempt really ends, also after Kitex has given the caller a timeout, and also
// for a panic, of which nothing else is told. A stream is counted until it has
// been opened.
func countInFlight(next endpoint.Endpoint) endpoint.Endpoint {
	return func(ctx context.Context, request, response any) error {
		attempt := pick.From(ctx)
		if attempt == nil || attempt.Picked == nil || attempt.Within {
			return next(ctx, request, response)
		}
		node, aside := attempt.Picked, attempt.Aside
		if !attempt.Counted || attempt.Taken {
			node.Begin()
		}
		attempt.Taken, attempt.Within = true, true
		defer func() {
			attempt.Within = false
			node.End()
		}()
		doubt, began := node.Doubt(), node.Clock()
		err := next(ctx, request, response)
		outcome := outcomeOf(ctx, attempt.Call(), err)
		node.Done(outcome, doubt, aside)
		if began != 0 && modeOf(attempt.Call()) == rpcinfo.PingPong {
			node.Took(began, outcome)
		}
		return err
	}
}
