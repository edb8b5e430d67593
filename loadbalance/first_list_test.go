// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"sync"
	"testing"
	"time"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
)

// never is a policy that leaves the choice to the balancer.
type never struct{}

func (never) Choose(uint64, func(int) bool) int { return -1 }

// TestChangeWhileTheFirstListIsBuilt: Kitex announces a change once, also while
// the first call waits for the list that it was handed, which takes long where
// that fills a ring.
func TestChangeWhileTheFirstListIsBuilt(t *testing.T) {
	building, build := make(chan struct{}), make(chan struct{})
	var once sync.Once
	register(t, "slow", func([]Candidate, Chooser) Chooser {
		once.Do(func() {
			close(building)
			<-build
		})
		return never{}
	})
	b, err := New("slow")
	if err != nil {
		t.Fatal(err)
	}
	var both sync.WaitGroup
	both.Go(func() { _ = call(t.Context(), b, result("r", 1)) })
	<-building
	announced := make(chan struct{})
	both.Go(func() {
		b.Rebalance(kdiscovery.Change{Result: result("r", 0, 1)})
		close(announced)
	})
	timer := time.NewTimer(20 * time.Millisecond) // it may well wait for the list
	defer timer.Stop()
	select {
	case <-announced:
	case <-timer.C:
	}
	close(build)
	both.Wait()
	if got := call(t.Context(), b, result("r", 0, 1)); got != "i1:80" {
		t.Errorf("after the change picked %q, want i1:80", got)
	}
}
