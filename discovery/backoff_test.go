// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"testing"
	"time"
)

func TestBackoffGrowsToItsCeilingAndStartsAgain(t *testing.T) {
	b := &backoff{base: 100 * time.Millisecond, ceiling: 2 * time.Second}
	limits := []int{100, 200, 400, 800, 1600, 2000, 2000}
	for round := range 2 {
		for i, ms := range limits {
			limit := time.Duration(ms) * time.Millisecond
			if wait := b.next(); wait < time.Millisecond || wait > limit+time.Millisecond {
				t.Errorf("round %d, wait %d is %v, want 1ms to %v", round, i, wait, limit)
			}
		}
		b.reset()
	}
}

func TestBackoffIsSpreadOverItsWholeRange(t *testing.T) {
	low, high := 0, 0
	for range 1000 {
		b := &backoff{base: time.Second, ceiling: time.Second}
		switch wait := b.next(); {
		case wait < 250*time.Millisecond:
			low++
		case wait > 750*time.Millisecond:
			high++
		}
	}
	if low < 150 || high < 150 {
		t.Errorf("of 1000 waits below a second, %d are in the first quarter and %d in the last; want about 250", low, high)
	}
}
