// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"
)

const pollEvery = 500 * time.Millisecond

// unmet is a condition that does not hold yet, as against a failure.
type unmet string

func (u unmet) Error() string { return string(u) }

// waitFor polls until met returns nil. It gives up at the deadline, or at once
// on an error other than unmet, for nothing the run asserts mends itself.
func waitFor(ctx context.Context, limit time.Duration, what string, met func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	last := error(unmet("not looked at"))
	for {
		err := met(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			if _, ok := err.(unmet); !ok { //nolint:errorlint // never wrapped
				return fmt.Errorf("%s: %w", what, err)
			}
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: not within %s: %w", what, limit, last)
		case <-tick.C:
		}
	}
}
