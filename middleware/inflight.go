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
// place to leave word for each other. It measures the attempt.
func (c *clientMetrics) beginAttempt(next endpoint.Endpoint) endpoint.Endpoint {
	return func(ctx context.Context, request, response any) (err error) {
		attempt := pick.Begin(ctx)
		began := c.begin(attempt)
		if !began.IsZero() && modeOf(attempt.Call()) == rpcinfo.Streaming {
			attempt.AfterStream = func() { c.end(attempt, began, nil, false) }
		}
		returned := false
		defer func() {
			// A panic between the pick and countInFlight: Kitex does not recycle
			// the picker then, so that nobody else ends the count.
			if !returned && attempt.Counted && !attempt.Taken {
				attempt.Picked.End()
			}
			if !attempt.Streaming {
				c.end(attempt, began, err, !returned)
			}
		}()
		err = next(attempt, request, response)
		returned = true
		return explained(err, attempt.Reason)
	}
}

// countInFlight stands below the pick, once for each attempt on an instance, or
// more often if a middleware above it tries again by itself. The node is told how
// the attempt went. The count ends when the attempt really ends, also after Kitex
// has given the caller a timeout, and also for a panic, of which nothing else is
// told. A stream that was opened is counted until the transport tells of its end.
func countInFlight(next endpoint.Endpoint) endpoint.Endpoint {
	return func(ctx context.Context, request, response any) error {
		attempt := pick.From(ctx)
		if attempt == nil || attempt.Picked == nil || attempt.Within {
			return next(ctx, request, response)
		}
		mode := modeOf(attempt.Call())
		h := hold(attempt)
		defer h.release()
		if mode == rpcinfo.Streaming {
			h.stream = &openStream{node: h.node, after: attempt.AfterStream}
			ctx = context.WithValue(ctx, openStreamKey{}, h.stream)
		}
		doubt, aside, began := h.node.Doubt(), attempt.Aside, h.node.Clock()
		err := next(ctx, request, response)
		h.opened = err == nil && h.stream != nil
		attempt.Streaming = h.opened && h.stream.after != nil
		outcome := outcomeOf(ctx, attempt.Call(), err)
		h.node.Done(outcome, doubt, aside)
		if began != 0 && mode == rpcinfo.PingPong {
			h.node.Took(began, outcome)
		}
		return err
	}
}

// held is the count of one attempt on a node.
type held struct {
	attempt *pick.Attempt
	node    pick.Node
	stream  *openStream // nil for other calls
	opened  bool        // the stream ends its count itself
}

// hold counts the attempt. What the balancer has counted is taken over the first
// time.
func hold(attempt *pick.Attempt) held {
	if !attempt.Counted || attempt.Taken {
		attempt.Picked.Begin()
	}
	attempt.Taken, attempt.Within = true, true
	return held{attempt: attempt, node: attempt.Picked}
}

func (h *held) release() {
	h.attempt.Within = false
	switch {
	case h.opened:
	case h.stream != nil:
		h.stream.end()
	default:
		h.node.End()
	}
}
