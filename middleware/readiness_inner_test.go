// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/kitex/pkg/registry"
)

// asked is a provider that asks itself once a second, before a registry that
// remembers what it was told, also for servers that come later.
type asked struct {
	readyRegistry

	mu           sync.Mutex
	checks       int
	answer       error
	panics       bool
	ready        bool
	refuse       error
	deregistered int
}

func newAsked() *asked {
	a := &asked{ready: true}
	a.readyRegistry = readyRegistry{Registry: a.registry(), reg: a, services: []string{"echo"}, every: time.Second, check: func(context.Context) error {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.checks++; a.panics {
			panic("a bug")
		}
		return a.answer
	}}
	return a
}

func (a *asked) SetReady(_ context.Context, _ string, ready bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ready = ready
	return nil
}

func (a *asked) set(edit func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	edit()
}

// checksIn is how often the provider asks itself in a time.
func (a *asked) checksIn(d time.Duration) (n int) {
	a.set(func() { n = -a.checks })
	time.Sleep(d)
	synctest.Wait()
	a.set(func() { n += a.checks })
	return n
}

func (a *asked) isReady() (ready bool) {
	synctest.Wait()
	a.set(func() { ready = a.ready })
	return ready
}

type innerRegistry struct{ a *asked }

func (a *asked) registry() registry.Registry { return innerRegistry{a} }

func (r innerRegistry) Register(*registry.Info) error { return r.a.refuse }

func (r innerRegistry) Deregister(*registry.Info) error {
	r.a.set(func() { r.a.deregistered++ })
	return nil
}

func infoAt(port int) *registry.Info {
	return &registry.Info{ServiceName: "echo", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}}
}

func bubble(t *testing.T, name string, f func(t *testing.T, a *asked)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { f(t, newAsked()) }) })
}

// TestReadinessIsAskedWhileAnythingIsRegistered, however servers come and go.
func TestReadinessIsAskedWhileAnythingIsRegistered(t *testing.T) {
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	bubble(t, "two servers", func(t *testing.T, a *asked) {
		t.Helper()
		must(t, a.Register(infoAt(1)))
		must(t, a.Register(infoAt(2)))
		must(t, a.Deregister(infoAt(1)))
		if n := a.checksIn(10 * time.Second); n < 9 {
			t.Errorf("asked %d times in 10 s while a server is left", n)
		}
		must(t, a.Deregister(infoAt(2)))
		if n := a.checksIn(10 * time.Second); n > 0 {
			t.Errorf("asked %d times after all have left", n)
		}
	})
	bubble(t, "the same twice", func(t *testing.T, a *asked) {
		t.Helper()
		must(t, a.Register(infoAt(1)))
		must(t, a.Register(infoAt(1)))
		must(t, a.Deregister(infoAt(1)))
		if n := a.checksIn(10 * time.Second); n > 0 {
			t.Errorf("asked %d times after it has left", n)
		}
	})
	bubble(t, "refused", func(t *testing.T, a *asked) {
		t.Helper()
		a.refuse = errors.New("no such key")
		if err := a.Register(infoAt(1)); !errors.Is(err, a.refuse) {
			t.Fatal(err)
		}
		if n := a.checksIn(10 * time.Second); n > 0 {
			t.Errorf("asked %d times, though nothing is registered", n)
		}
	})
	bubble(t, "left before it came", func(t *testing.T, a *asked) {
		t.Helper()
		must(t, a.Deregister(infoAt(1)))
		must(t, a.Deregister(nil))
		if a.deregistered != 2 || a.checksIn(10*time.Second) > 0 {
			t.Errorf("passed on %d times", a.deregistered)
		}
		must(t, a.Register(infoAt(1)))
		if n := a.checksIn(10 * time.Second); n < 9 {
			t.Errorf("asked %d times in 10 s", n)
		}
		must(t, a.Deregister(infoAt(1)))
	})
}

// TestReadinessIsNotLeftBehind: a server that leaves unready does not make the next
// one of the registry drain.
func TestReadinessIsNotLeftBehind(t *testing.T) {
	bubble(t, "", func(t *testing.T, a *asked) {
		t.Helper()
		a.answer = errors.New("cold")
		if err := a.Register(infoAt(1)); err != nil || a.isReady() {
			t.Fatalf("%v, or ready: %v", err, a.isReady())
		}
		if err := a.Deregister(infoAt(1)); err != nil {
			t.Fatal(err)
		}
		if !a.isReady() {
			t.Error("the registry would drain the next server")
		}
		if err := a.Register(infoAt(1)); err != nil || a.isReady() {
			t.Errorf("%v, or ready: %v; the check says otherwise", err, a.isReady())
		}
		if err := a.Deregister(infoAt(1)); err != nil {
			t.Fatal(err)
		}
	})
}

// TestReadinessCheckThatPanics says not ready, and does not end the process.
func TestReadinessCheckThatPanics(t *testing.T) {
	bubble(t, "", func(t *testing.T, a *asked) {
		t.Helper()
		if err := a.Register(infoAt(1)); err != nil {
			t.Fatal(err)
		}
		a.set(func() { a.panics = true })
		_ = a.checksIn(2 * time.Second)
		if a.isReady() {
			t.Error("it is ready")
		}
		a.set(func() { a.panics = false })
		_ = a.checksIn(2 * time.Second)
		if !a.isReady() {
			t.Error("it is not ready again")
		}
		if err := a.Deregister(infoAt(1)); err != nil {
			t.Fatal(err)
		}
	})
}
