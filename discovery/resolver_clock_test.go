// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"testing"
	"time"
	"unsafe"
)

// setForward is t as a clock shows it that was set forward by a day: a moment
// with both readings has its wall clock's seconds from bit 30 on.
func setForward(t time.Time) time.Time {
	*(*uint64)(unsafe.Pointer(&t)) += 24 * 60 * 60 << 30
	return t
}

// TestClockThatIsSetEndsNoFeed, nor does it make one unreachable.
func TestClockThatIsSetEndsNoFeed(t *testing.T) {
	t.Parallel()
	f := handFed(t, nil)
	now := time.Now()
	set := setForward(now)
	if set.Sub(now) > time.Second || set.Round(0).Sub(now.Round(0)) != 24*time.Hour {
		t.Fatalf("%v is not what a clock shows that was set at %v", set, now)
	}
	if f.idle(set) {
		t.Error("a feed that was used just now is called idle")
	}
	if !f.idle(now.Add(2 * idleAfter)) {
		t.Error("a feed that was used long ago is not called idle")
	}
	f.resolver.lost(now)
	if f.resolver.unreachable(set) {
		t.Error("a connection that was lost just now is called lost for long")
	}
	if !f.resolver.unreachable(now.Add(2 * brokenAfter)) {
		t.Error("a connection that was lost long ago is not called so")
	}
}
