// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import "testing"

// An address has two keys here: the one that we would write, and another that an
// old provider or an operator has written.
const (
	ownKey   = "fairway/echo/a:1"
	otherKey = "fairway/echo/old-a"
)

// TestInstanceWithAnotherKeyHasNotVanished: one of its keys going is no reason to
// suspect it.
func TestInstanceWithAnotherKeyHasNotVanished(t *testing.T) {
	t.Parallel()
	for _, gone := range []string{ownKey, otherKey} {
		f := handFed(t, map[string]string{ownKey: value("a:1", 1), otherKey: value("a:1", 1)})
		f.apply(&f.instances, said(oneEvent(101, gone, "")))
		if got, want := offered(f), "[a:1] suspects 0 skipped 0"; got != want {
			t.Errorf("without %s: %s, want %s", gone, got, want)
		}
	}
}

// TestSuspectIsReleasedByAnyKeyOfItsAddress, and is never there twice.
func TestSuspectIsReleasedByAnyKeyOfItsAddress(t *testing.T) {
	t.Parallel()
	f := handFed(t, map[string]string{ownKey: value("a:1", 1)})
	f.apply(&f.instances, said(oneEvent(101, ownKey, "")))
	if got, want := offered(f), "[a:1] suspects 1 skipped 0"; got != want {
		t.Fatalf("%s, want %s", got, want)
	}
	f.apply(&f.instances, said(oneEvent(102, otherKey, value("a:1", 2))))
	if got, want := offered(f), "[a:1] suspects 0 skipped 0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	f.apply(&f.instances, said(oneEvent(103, otherKey, "")))
	if got, want := offered(f), "[a:1] suspects 1 skipped 0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	f.apply(&f.instances, said(oneEvent(104, ownKey, value("a:1", 1))))
	if got, want := offered(f), "[a:1] suspects 0 skipped 0"; got != want {
		t.Errorf("back under its first key: %s, want %s", got, want)
	}
	if n := f.resolver.suspects.Load(); n != 0 {
		t.Errorf("the resolver counts %d suspects", n)
	}
}

func TestResponsesThatCameTogetherArePublishedOnce(t *testing.T) {
	t.Parallel()
	f := handFed(t, map[string]string{ownKey: value("a:1", 1)})
	published := 0
	cancel := f.view.OnChange(func() { published++ })
	defer cancel()
	f.apply(&f.instances, said(oneEvent(101, "fairway/echo/b:1", value("b:1", 1)), oneEvent(102, "fairway/echo/c:1", value("c:1", 1)),
		oneEvent(103, "fairway/echo/b:1", value("b:1", 7))))
	if got, want := offered(f), "[a:1 b:1 c:1] suspects 0 skipped 0"; got != want || published != 1 {
		t.Errorf("%s published %d times, want %s once", got, published, want)
	}
}

// TestChangesBeforeTheEndCount: a watch that ends has told what it has told.
func TestChangesBeforeTheEndCount(t *testing.T) {
	t.Parallel()
	f := handFed(t, map[string]string{ownKey: value("a:1", 1)})
	all := append(said(oneEvent(101, "fairway/echo/b:1", value("b:1", 1))), response{})
	if _, err := f.receive(&f.instances, all); err == nil {
		t.Error("the watch goes on")
	}
	if got, want := offered(f), "[a:1 b:1] suspects 0 skipped 0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
