// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairway-rpc/fairway/internal/pick"
	"github.com/fairway-rpc/fairway/loadbalance"
)

// TestPickLogIsLimited: ten lines a second, which say how many are missing; a
// failure is of another kind, and is not left out for the others.
func TestPickLogIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		l := newPickLog(slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})))
		for range 1000 { // a second
			l.Picked(t.Context(), &pick.Pick{Policy: "smooth-wrr", Err: loadbalance.ErrEmpty})
			time.Sleep(time.Millisecond)
		}
		l.Picked(t.Context(), &pick.Pick{Policy: "smooth-wrr", Err: loadbalance.ErrAllDrained})
		var missing, lines int
		var last map[string]any
		for d := json.NewDecoder(&out); d.More(); lines++ {
			last = nil
			if err := d.Decode(&last); err != nil {
				t.Fatal(err)
			}
			n, _ := last["left_out"].(float64)
			missing += int(n)
		}
		if lines != 10+1 || missing != 9*99 {
			t.Errorf("%d lines, %d left out", lines, missing)
		}
		if last["error.type"] != "all_drained" || last["msg"] != "picked nobody" {
			t.Errorf("the failure of another kind is left out; the last line is %v", last)
		}
	})
}
