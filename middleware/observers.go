// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"context"

	"github.com/fairway-rpc/fairway/internal/pick"
)

// observerOf is who is told of picks, nil for nobody: an interface that holds a
// nil pointer would not be.
func observerOf(spans *pickSpans, log *pickLog) pick.Observer {
	switch {
	case log == nil && spans == nil:
		return nil
	case log == nil:
		return spans
	case spans == nil:
		return log
	}
	return observers{spans, log}
}

// observers are told of the picks that they want.
type observers []pick.Observer

// Wants implements pick.Observer.
func (all observers) Wants(ctx context.Context) bool {
	for _, o := range all {
		if o.Wants(ctx) {
			return true
		}
	}
	return false
}

// Picked implements pick.Observer.
func (all observers) Picked(ctx context.Context, p *pick.Pick) {
	for _, o := range all {
		if o.Wants(ctx) {
			o.Picked(ctx, p)
		}
	}
}
