// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/fairway-rpc/fairway/internal/etcdtest"
)

const echo1, echo2 = "127.0.0.1:1001", "127.0.0.1:1002"

func register(t *testing.T, r *Registry, address string, weight int) {
	t.Helper()
	if err := r.Register(infoOf("echo", address, weight)); err != nil {
		t.Fatal(err)
	}
}

// TestWeightBeforeDuringAndAfterRegister: the weight set last is the one in
// etcd when SetWeight returns, at every address of the service alone.
func TestWeightBeforeDuringAndAfterRegister(t *testing.T) {
	t.Parallel()
	cli := etcdtest.Start(t).Client(t)
	r := testRegistry(t, cli)
	if err := r.SetWeight(t.Context(), "echo", 0); err != nil {
		t.Fatal(err)
	}
	register(t, r, echo1, 20)
	if w := keyWeight(t, cli, echo1); w != 0 {
		t.Errorf("registered with %d although 0 was set before", w)
	}
	registering := make(chan struct{})
	go func() {
		defer close(registering)
		register(t, r, echo2, 20)
	}()
	for w := range 20 {
		if err := r.SetWeight(t.Context(), "echo", w); err != nil {
			t.Fatal(err)
		}
		if got := keyWeight(t, cli, echo1); got != int64(w) {
			t.Fatalf("etcd has %d when SetWeight(%d) returns", got, w)
		}
	}
	<-registering
	if w := keyWeight(t, cli, echo2); w != 19 {
		t.Errorf("the second address has %d, want 19", w)
	}
	if err := r.SetWeight(t.Context(), "other", 5); err != nil {
		t.Fatal(err)
	}
	info := infoOf("echo", echo1, 20)
	if err := errors.Join(r.Deregister(info), r.Register(info)); err != nil {
		t.Fatal(err)
	}
	if w := keyWeight(t, cli, echo1); w != 19 {
		t.Errorf("registered again with %d, want 19", w)
	}
}

// TestWishesWhileEtcdIsDown: the call says that etcd does not have it, the wish
// stands, and only the latest is ever written.
func TestWishesWhileEtcdIsDown(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	cli := s.Client(t)
	r := testRegistry(t, cli)
	register(t, r, echo1, 20)
	s.Kill()
	for w := range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		err := r.SetWeight(ctx, "echo", w)
		cancel()
		if !errors.Is(err, ErrRegistryUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want ErrRegistryUnavailable with its cause", err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	drained := make(chan error, 1)
	go func() { drained <- r.Drain(ctx) }()
	s.Restart()
	puts := countPuts(t, s.Client(t), "fairway/echo/"+echo1)
	if err := <-drained; err != nil {
		t.Fatal(err)
	}
	if rec := keyRecord(t, cli, echo1); rec == nil || rec.weight() != 2 || rec.State != StateDraining {
		t.Errorf("etcd has %+v", rec)
	}
	if n := puts(); n > 2 { // one may have been written between Restart and the watch
		t.Errorf("%d writes for one outage", n)
	}
}

func TestTagsAreReplaced(t *testing.T) {
	t.Parallel()
	cli := etcdtest.Start(t).Client(t)
	r := testRegistry(t, cli)
	info := infoOf("echo", echo1, 20)
	info.Tags = map[string]string{"zone": "a", "old": "x"}
	if err := r.Register(info); err != nil {
		t.Fatal(err)
	}
	tags := map[string]string{"zone": "b"}
	if err := r.SetTags(t.Context(), "echo", tags); err != nil {
		t.Fatal(err)
	}
	tags["zone"] = "changed by the caller afterwards"
	if rec := keyRecord(t, cli, echo1); !maps.Equal(rec.Tags, map[string]string{"zone": "b"}) || rec.weight() != 20 {
		t.Errorf("etcd has %+v", rec)
	}
	if err := r.SetTags(t.Context(), "echo", nil); err != nil {
		t.Fatal(err)
	}
	if rec := keyRecord(t, cli, echo1); len(rec.Tags) != 0 {
		t.Errorf("etcd has tags %v after SetTags(nil)", rec.Tags)
	}
}

func TestDrainAndUndrain(t *testing.T) {
	t.Parallel()
	cli := etcdtest.Start(t).Client(t)
	r := testRegistry(t, cli)
	register(t, r, echo1, 20)
	if err := r.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	register(t, r, echo2, 20)
	for _, address := range []string{echo1, echo2} {
		if rec := keyRecord(t, cli, address); rec.State != StateDraining || rec.weight() != 20 {
			t.Errorf("%s: etcd has %+v", address, rec)
		}
	}
	if s := r.Status(); !s.Drained || s.Registrations[0].State != Draining {
		t.Errorf("status %+v", s)
	}
	if err := r.Undrain(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{echo1, echo2} {
		if rec := keyRecord(t, cli, address); rec.State != StateServing {
			t.Errorf("%s: etcd has %+v", address, rec)
		}
	}
}

// TestHiddenProvider: its key leaves in order and stays away through every
// reason to look, until Undrain puts it back.
func TestHiddenProvider(t *testing.T) {
	t.Parallel()
	cli := etcdtest.Start(t).Client(t)
	r := testRegistry(t, cli, WithHideDrained(), registryOption(quick))
	register(t, r, echo1, 20)
	puts := countPuts(t, cli, "fairway/echo/"+echo1)
	if err := r.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if rec := keyRecord(t, cli, echo1); rec != nil {
		t.Fatalf("etcd still has %+v", rec)
	}
	if err := r.SetWeight(t.Context(), "echo", 7); err != nil {
		t.Fatal(err)
	}
	r.lookAll()
	pause(t.Context(), time.Second, nil) // five checks
	if rec := keyRecord(t, cli, echo1); rec != nil {
		t.Fatalf("put back while drained: %+v", rec)
	}
	waitFor(t, "its leaving has been announced", func() bool { return puts() == 1 })
	if s := r.Status().Registrations; len(s) != 1 || s[0].State != Hidden || s[0].Lease == "" {
		t.Errorf("status %+v", s)
	}
	register(t, r, echo2, 20)
	if rec := keyRecord(t, cli, echo2); rec != nil {
		t.Errorf("registered while drained: %+v", rec)
	}
	if err := r.Undrain(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{echo1, echo2} {
		if rec := keyRecord(t, cli, address); rec == nil || rec.weight() != 7 || rec.State != StateServing {
			t.Errorf("%s: etcd has %+v after Undrain", address, rec)
		}
	}
}

func TestBadWishesAreRefused(t *testing.T) {
	t.Parallel()
	cli := etcdtest.Start(t).Client(t)
	r := testRegistry(t, cli)
	register(t, r, echo1, 20)
	big := map[string]string{"x": string(make([]byte, maxRecordSize))}
	for name, err := range map[string]error{
		"negative":             r.SetWeight(t.Context(), "echo", -1),
		"too heavy":            r.SetWeight(t.Context(), "echo", maxWeight+1),
		"weight of no service": r.SetWeight(t.Context(), "a/b", 1),
		"tags of no service":   r.SetTags(t.Context(), "", nil),
		"big tags":             r.SetTags(t.Context(), "echo", big),
		"big tags, not there":  r.SetTags(t.Context(), "other", big),
	} {
		if !errors.Is(err, ErrInvalidConfig) {
			t.Errorf("%s: got %v, want ErrInvalidConfig", name, err)
		}
	}
	if rec := keyRecord(t, cli, echo1); rec.weight() != 20 || rec.Tags != nil {
		t.Errorf("etcd has %+v after refused wishes", rec)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"SetWeight": r.SetWeight(t.Context(), "echo", 1),
		"SetTags":   r.SetTags(t.Context(), "echo", nil),
		"Drain":     r.Drain(t.Context()),
		"Undrain":   r.Undrain(t.Context()),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s after Close: got %v, want ErrClosed", name, err)
		}
	}
}
