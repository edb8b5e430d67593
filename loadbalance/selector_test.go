// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
)

func newSelector(t testing.TB, policy string, opts ...Option) *Selector[string] {
	t.Helper()
	s, err := NewSelector[string](policy, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func add(t testing.TB, s *Selector[string], id string, weight int) {
	t.Helper()
	if err := s.Add(id, "item "+id, weight); err != nil {
		t.Fatal(err)
	}
}

// selected selects n items, ends their use, and counts them.
func selected(t testing.TB, s *Selector[string], n int) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for i := range n {
		item, done, err := s.Select(fmt.Sprint(i))
		if err != nil {
			t.Fatal(err)
		}
		done.End()
		counts[item]++
	}
	return counts
}

// TestSelectorSelectsByEveryPolicy: each change is seen by the next selection.
func TestSelectorSelectsByEveryPolicy(t *testing.T) {
	for _, policy := range Policies() {
		t.Run(policy, func(t *testing.T) {
			s := newSelector(t, policy)
			if _, done, err := s.Select("k"); !errors.Is(err, ErrEmpty) {
				t.Errorf("without items: %v", err)
			} else {
				done.End()
			}
			add(t, s, "a", 0)
			if _, _, err := s.Select("k"); !errors.Is(err, ErrAllDrained) {
				t.Errorf("with weight 0 only: %v", err)
			}
			add(t, s, "b", 1)
			if got := selected(t, s, 100); got["item b"] != 100 {
				t.Errorf("selected %v, want only b", got)
			}
			if err := s.SetWeight("a", 1); err != nil {
				t.Fatal(err)
			}
			if got := selected(t, s, 1000); got["item a"] < 300 || got["item b"] < 300 {
				t.Errorf("selected %v, want both", got)
			}
			if err := s.Remove("b"); err != nil {
				t.Fatal(err)
			}
			if got := selected(t, s, 100); got["item a"] != 100 {
				t.Errorf("selected %v, want only a", got)
			}
			if list := s.List(); len(list) != 1 || list[0] != (Selectable[string]{ID: "a", Item: "item a", Weight: 1}) {
				t.Errorf("list %+v", list)
			}
		})
	}
}

func TestSelectorRefuses(t *testing.T) {
	s := newSelector(t, Random)
	add(t, s, "a", 1)
	for name, c := range map[string]struct{ err, want error }{
		"an empty ID":          {s.Add("", "x", 1), ErrInvalidConfig},
		"a duplicate":          {s.Add("a", "x", 1), ErrDuplicate},
		"a negative weight":    {s.Add("b", "x", -1), ErrInvalidConfig},
		"too heavy a weight":   {s.SetWeight("a", math.MaxInt32+1), ErrInvalidConfig},
		"to weigh a stranger":  {s.SetWeight("b", 1), ErrNotFound},
		"to remove a stranger": {s.Remove("b"), ErrNotFound},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", name, c.err, c.want)
		}
	}
	if list := s.List(); len(list) != 1 || list[0].Weight != 1 {
		t.Errorf("list %+v", list)
	}
	if _, err := NewSelector[int]("no such"); !errors.Is(err, ErrUnknownPolicy) {
		t.Errorf("unknown policy: %v", err)
	}
}

func TestSelectorNeedsAKeyToHash(t *testing.T) {
	for _, policy := range []string{ConsistentHash, BoundedHash} {
		s := newSelector(t, policy)
		add(t, s, "a", 1)
		if _, _, err := s.Select(""); !errors.Is(err, ErrNoKey) {
			t.Errorf("%s without a key: %v", policy, err)
		}
	}
	s := newSelector(t, SourceHash)
	for i := range 5 {
		add(t, s, fmt.Sprint(i), 1)
	}
	first, _, err := s.Select("")
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if next, _, _ := s.Select(""); next != first {
			t.Errorf("this process gets %s and %s", first, next)
		}
	}
}

// TestSelectorCountsWhatIsInUse, and goes by it under least-active.
func TestSelectorCountsWhatIsInUse(t *testing.T) {
	for _, policy := range []string{LeastActive, RoundRobin} {
		s := newSelector(t, policy)
		add(t, s, "a", 1)
		add(t, s, "b", 1)
		var inUse []Done
		for range 6 {
			_, done, err := s.Select("")
			if err != nil {
				t.Fatal(err)
			}
			inUse = append(inUse, done)
		}
		if list := s.List(); list[0].InFlight != 3 || list[1].InFlight != 3 {
			t.Errorf("%s: %+v", policy, list)
		}
		for _, done := range inUse {
			done.End()
		}
		if list := s.List(); list[0].InFlight != 0 || list[1].InFlight != 0 {
			t.Errorf("%s, after the end: %+v", policy, list)
		}
	}
}

// TestSelectionsAndChangesTogether: nobody is selected after Remove has returned.
func TestSelectionsAndChangesTogether(t *testing.T) {
	for _, policy := range Policies() {
		t.Run(policy, func(t *testing.T) {
			s := newSelector(t, policy)
			add(t, s, "always", 1)
			stop := make(chan struct{})
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					for i := 0; ; i++ {
						select {
						case <-stop:
							return
						default:
						}
						_, done, err := s.Select(fmt.Sprint(i))
						if err != nil {
							t.Error(err)
							return
						}
						done.End()
					}
				})
			}
			for range 30 {
				add(t, s, "sometimes", 5)
				if err := s.Remove("sometimes"); err != nil {
					t.Error(err)
				}
				if got := selected(t, s, 5); got["item always"] != 5 {
					t.Errorf("selected %v after Remove", got)
				}
			}
			close(stop)
			all.Wait()
		})
	}
}
