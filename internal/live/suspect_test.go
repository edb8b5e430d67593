// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"strings"
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
			callers.Go(func() {
				s.Call(true)
				s.Broke(s.Begin())
			})
		}
		callers.Wait() // though the drop has not ended
		synctest.Wait()
		if n := len(drops); n != 1 {
			t.Errorf("dropped %d times, want once", n)
		}
		close(release)
	})
}

// TestCallsThatBreakTogetherAreOneFailure: steps are of calls by name, "(a" for
// its begin, "a)" for its connection that breaks, "a!" for another failure, and
// "a." for its answer.
func TestCallsThatBreakTogetherAreOneFailure(t *testing.T) {
	for steps, want := range map[string]int{
		"(a (b (c a) b) c)":          0, // one connection broke
		"(a (b a) b) (c c)":          1, // and could not be made again
		"(a (b a) (c b) c)":          1,
		"(a (b a! b!":                1, // each has waited in vain
		"(a (b a) b!":                1,
		"(a (b a! b)":                0,
		"(a (b a) b. (c c)":          0, // the answer came later than the failure
		"(a a) (b (c b. c)":          0,
		"(a (b a) (c c. (d d) b)":    0, // b began before either failure
		"(a (b a) (c c. (d d) (e e)": 1,
	} {
		synctest.Test(t, func(t *testing.T) {
			drops := 0
			s := NewSuspect(func() { drops++ })
			began := map[byte]uint64{}
			for step := range strings.FieldsSeq(steps) {
				switch {
				case step[0] == '(':
					began[step[1]] = s.Begin()
				case step[1] == ')':
					s.Broke(began[step[0]])
				default:
					s.Call(step[1] == '!')
				}
			}
			synctest.Wait()
			if drops != want {
				t.Errorf("%s: dropped %d times, want %d", steps, drops, want)
			}
		})
	}
}
