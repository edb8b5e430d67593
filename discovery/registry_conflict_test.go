// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"testing"
	"time"

	"github.com/fairway-rpc/fairway/internal/etcdtest"
)

// TestTwoLiveProvidersWithOneAddressDoNotFight: the later one keeps the key,
// the other reports a conflict and writes nothing, whatever the later one does,
// and takes over when that has left.
func TestTwoLiveProvidersWithOneAddressDoNotFight(t *testing.T) {
	t.Parallel()
	cli := etcdtest.Start(t).Client(t)
	earlier, later := testRegistry(t, cli, registryOption(quick)), testRegistry(t, cli, registryOption(quick))
	puts := countPuts(t, cli, "fairway/echo/"+echo1)
	first, second := infoOf("echo", echo1, 1), infoOf("echo", echo1, 2)
	first.StartTime, second.StartTime = time.Now().Add(-time.Minute), time.Now()
	if err := earlier.Register(first); err != nil {
		t.Fatal(err)
	}
	if err := later.Register(second); err != nil {
		t.Fatal(err)
	}
	status := func(r *Registry) RegistrationStatus { return r.Status().Registrations[0] }
	waitFor(t, "the earlier one sees the conflict", func() bool { return status(earlier).State == Conflict })
	for w := range 5 {
		seen := status(earlier).LastErrorAt
		if err := later.SetWeight(t.Context(), "echo", w); err != nil {
			t.Fatal(err)
		}
		waitFor(t, "the earlier one looks again", func() bool { return status(earlier).LastErrorAt.After(seen) })
	}
	if rec := keyRecord(t, cli, echo1); rec.weight() != 4 {
		t.Errorf("the key holds weight %d, want the later one's 4", rec.weight())
	}
	if s := status(later); s.State != Registered {
		t.Errorf("the later one is %s", s.State)
	}
	// One of the earlier, one of the later, and its five weights.
	waitFor(t, "all writes have been seen", func() bool { return puts() >= 7 })
	if n := puts(); n != 7 {
		t.Errorf("%d writes, want 7", n)
	}
	if err := later.Deregister(second); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the earlier one takes over", func() bool {
		rec := keyRecord(t, cli, echo1)
		return rec != nil && rec.weight() == 1 && status(earlier).State == Registered
	})
}

// TestConflictIsLookedAtOnlyByTheCheck: the other's writes wake nobody.
func TestConflictIsLookedAtOnlyByTheCheck(t *testing.T) {
	t.Parallel()
	cli := etcdtest.Start(t).Client(t)
	loser, winner := testRegistry(t, cli), testRegistry(t, cli)
	first, second := infoOf("echo", echo1, 1), infoOf("echo", echo1, 2)
	first.StartTime = time.Now().Add(-time.Minute)
	if err := winner.Register(second); err != nil {
		t.Fatal(err)
	}
	if err := loser.Register(first); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the conflict is seen", func() bool { return loser.Status().Registrations[0].State == Conflict })
	seen := loser.Status().Registrations[0].LastErrorAt
	for w := range 20 {
		if err := winner.SetWeight(t.Context(), "echo", w); err != nil {
			t.Fatal(err)
		}
	}
	if now := loser.Status().Registrations[0].LastErrorAt; !now.Equal(seen) {
		t.Errorf("looked again %v after the first time", now.Sub(seen))
	}
}

// TestSuccessorAtTheAddressOfALeavingOne starts in the middle of the old one's
// drain, with an earlier start even, and keeps its key.
func TestSuccessorAtTheAddressOfALeavingOne(t *testing.T) {
	t.Parallel()
	cli := etcdtest.Start(t).Client(t)
	old, successor := testRegistry(t, cli, WithDrainDelay(300*time.Millisecond)), testRegistry(t, cli)
	first, second := infoOf("echo", echo1, 1), infoOf("echo", echo1, 2)
	second.StartTime = time.Now().Add(-time.Minute)
	if err := old.Register(first); err != nil {
		t.Fatal(err)
	}
	left := make(chan error, 1)
	go func() { left <- old.Deregister(first) }()
	waitFor(t, "the old one has gone from etcd", func() bool { return keyRecord(t, cli, echo1) == nil })
	if s := old.Status().Registrations; len(s) != 1 || s[0].State != Leaving {
		t.Errorf("status while leaving: %+v", s)
	}
	if err := successor.Register(second); err != nil {
		t.Fatal(err)
	}
	if err := <-left; err != nil {
		t.Fatal(err)
	}
	if rec := keyRecord(t, cli, echo1); rec == nil || rec.weight() != 2 {
		t.Errorf("the key holds %+v", rec)
	}
	if s := old.Status().Registrations; len(s) != 0 {
		t.Errorf("status afterwards: %+v", s)
	}
}
