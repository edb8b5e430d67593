// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// TestSlowCallbackGetsTheLatestInOrder: what piles up while it is busy shrinks
// to one status for each registration.
func TestSlowCallbackGetsTheLatestInOrder(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	var first sync.Once
	var got []string
	n := newNotifier(func(s RegistrationStatus) {
		first.Do(func() {
			close(begun)
			<-release
		})
		got = append(got, s.Service+" "+string(s.State))
	})
	a, b := &registration{}, &registration{}
	n.push(a, RegistrationStatus{Service: "a", State: Registering})
	<-begun
	n.push(b, RegistrationStatus{Service: "b", State: Registering})
	n.push(a, RegistrationStatus{Service: "a", State: Retrying})
	n.push(b, RegistrationStatus{Service: "b", State: Registered})
	close(release)
	n.wait()
	if all := strings.Join(got, ", "); all != "a registering, b registered, a retrying" {
		t.Errorf("got %s", all)
	}
}

func TestCallbackIsNeverCalledTwiceAtOnce(t *testing.T) {
	var running, calls atomic.Int64
	n := newNotifier(func(RegistrationStatus) {
		if running.Add(1) != 1 {
			t.Error("two calls at once")
		}
		calls.Add(1)
		running.Add(-1)
	})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				n.push(&registration{}, RegistrationStatus{})
			}
		})
	}
	all.Wait()
	n.wait()
	if calls.Load() != 800 {
		t.Errorf("%d calls of 800", calls.Load())
	}
}
