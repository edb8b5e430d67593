// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"sync"
	"testing"
	"testing/synctest"
)

func TestSuspectIsDroppedByTwoFailuresInARow(t *testing.T) {
	const ok, failed = false, true
	for name, tt := range map[string]struct {
		calls []bool
		drops int
	}{
		"one failure":               {[]bool{failed}, 0},
		"with an answer in between": {[]bool{failed, ok, failed, ok, ok, failed}, 0},
		"two in a row":              {[]bool{failed, failed}, 1},
		"after answers":             {[]bool{ok, failed, ok, failed, failed}, 1},
		"once and for all":          {[]bool{failed, failed, failed, ok, failed, failed}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				drops := 0
				s := NewSuspect(func() { drops++ })
				for _, failed := range tt.calls {
					s.Call(failed)
					synctest.Wait()
				}
				if drops != tt.drops {
					t.Errorf("dropped %d times, want %d", drops, tt.drops)
				}
			})
		})
	}
}

func TestSuspectNeitherWaitsForTheDropNorDropsTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		drops := make(chan struct{}, 10)
		s := NewSuspect(func() {
			drops <- struct{}{}
			<-release
		})
		var callers sync.WaitGroup
		for range 16 {
			callers.Go(func() { s.Call(true) })
		}
		callers.Wait() // though the drop has not ended
		synctest.Wait()
		if n := len(drops); n != 1 {
			t.Errorf("dropped %d times, want once", n)
		}
		close(release)
	})
}
