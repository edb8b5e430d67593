// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"encoding/json"
	"log/slog"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairway-rpc/fairway/internal/etcdtest"
)

func TestStatusOfARegistration(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	cli := s.Client(t)
	const ttl = 5 * time.Second
	r := testRegistry(t, cli, WithTTL(ttl), registryOption(quick))
	if got := r.Status(); got.Prefix != "fairway" || len(got.Registrations) != 0 {
		t.Errorf("of nothing: %+v", got)
	}
	register(t, r, echo2, 20)
	register(t, r, echo1, 20)
	all := r.Status().Registrations
	if len(all) != 2 || all[0].Address != echo1 || all[1].Address != echo2 {
		t.Fatalf("got %+v, want both in order", all)
	}
	got := all[0]
	if got.Service != "echo" || got.Network != "tcp" || got.Key != "fairway/echo/"+echo1 || got.State != Registered || got.Weight != 20 ||
		got.LastError != "" || time.Since(got.Since) > time.Minute || got.TTLLeft <= 0 || got.TTLLeft > ttl {
		t.Errorf("got %+v", got)
	}
	out, err := exec.Command(etcdtest.Etcdctl(t), "--endpoints="+s.Endpoint(), "lease", "timetolive", "--keys", got.Lease).CombinedOutput()
	if err != nil || !strings.Contains(string(out), got.Key) {
		t.Errorf("etcdctl says of lease %s: %v, %s", got.Lease, err, out)
	}
	s.Freeze()
	waitFor(t, "the lease runs out", func() bool {
		now := r.Status().Registrations[0]
		return now.State == Retrying && now.LastError != "" && now.TTLLeft < got.TTLLeft/2
	})
	s.Thaw()
	waitFor(t, "it is registered again", func() bool { return r.Status().Registrations[0].State == Registered })
}

func TestStatusAsJSON(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	got, err := json.Marshal(RegistryStatus{Prefix: "fairway", Registrations: []RegistrationStatus{{
		Service: "echo", Network: "tcp", Address: "a:1", Key: "fairway/echo/a:1", State: Retrying, Since: at, Weight: 20,
		Lease: "1a2b", TTLLeft: time.Second, LastError: "why", LastErrorAt: at,
	}}})
	const want = `{"prefix":"fairway","drained":false,"registrations":[{"service":"echo","network":"tcp","address":"a:1",` +
		`"key":"fairway/echo/a:1","state":"retrying","since":"2026-01-02T03:04:05Z","weight":20,"lease":"1a2b",` +
		`"ttl_left_ns":1000000000,"last_error":"why","last_error_at":"2026-01-02T03:04:05Z"}]}`
	if err != nil || string(got) != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, got, want)
	}
}

// TestStatesOfALife: the callback and the log have each change once, in order.
func TestStatesOfALife(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	log := &lines{}
	var mu sync.Mutex
	var states []string
	var r *Registry
	r = testRegistry(t, s.Client(t), WithTTL(2*time.Second), registryOption(quick), WithLogger(slog.New(slog.NewTextHandler(log, nil))),
		WithStatusCallback(func(s RegistrationStatus) {
			_ = r.Status() // takes every lock that the registry has
			mu.Lock()
			defer mu.Unlock()
			states = append(states, string(s.State))
		}))
	info := infoOf("echo", echo1, 20)
	if err := r.Register(info); err != nil {
		t.Fatal(err)
	}
	heard := func() string {
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(states, " ")
	}
	hear := func(want string) {
		t.Helper()
		waitFor(t, want, func() bool { return heard() == want })
	}
	hear("registered")
	if err := r.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	hear("registered draining")
	if err := r.Undrain(t.Context()); err != nil {
		t.Fatal(err)
	}
	hear("registered draining registered")
	s.Kill()
	hear("registered draining registered retrying")
	began := time.Now()
	waitFor(t, "the outage lasts", func() bool { return time.Since(began) > 3*time.Second })
	s.Restart()
	hear("registered draining registered retrying registered")
	if err := r.Deregister(info); err != nil {
		t.Fatal(err)
	}
	hear("registered draining registered retrying registered leaving deregistered")
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]int{
		"provider is registered": 3, "provider is draining": 1, "provider is retrying": 1, "provider is leaving": 1, "provider is deregistered": 1,
	} {
		if n := log.count(line); n != want {
			t.Errorf("%q is logged %d times, want %d", line, n, want)
		}
	}
	if n := log.count("level=WARN"); n > 8 {
		t.Errorf("%d warnings about one outage", n)
	}
}
