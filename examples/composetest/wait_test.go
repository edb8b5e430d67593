// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestWaitForPollsUntilMet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		err := waitFor(t.Context(), time.Minute, "a condition", func(context.Context) error {
			if time.Since(start) < 10*time.Second {
				return unmet("too early")
			}
			return nil
		})
		if waited := time.Since(start); err != nil || waited > 11*time.Second {
			t.Errorf("%v after %s", err, waited)
		}
	})
}

func TestWaitForSaysWhatWasMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := waitFor(t.Context(), time.Minute, "a condition", func(context.Context) error { return unmet("2 of 3") })
		if err == nil || !strings.Contains(err.Error(), "a condition: not within 1m0s: 2 of 3") {
			t.Errorf("err = %v", err)
		}
	})
}

func TestWaitForGivesUpAtOnceOnFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, failed := time.Now(), errors.New("calls failed")
		err := waitFor(t.Context(), time.Minute, "a condition", func(context.Context) error { return failed })
		if !errors.Is(err, failed) || time.Since(start) != 0 {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
}
