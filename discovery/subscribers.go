// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import "sync"

// subscribers wakes those who follow a feed. Each has a channel with room for
// one wake-up, so that nobody slow holds up the feed and everybody ends with
// the latest snapshot.
type subscribers struct {
	mu   sync.Mutex
	wake map[chan struct{}]struct{}
}

func (s *subscribers) add() chan struct{} {
	wake := make(chan struct{}, 1)
	wake <- struct{}{}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wake == nil {
		s.wake = make(map[chan struct{}]struct{})
	}
	s.wake[wake] = struct{}{}
	return wake
}

func (s *subscribers) remove(wake chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.wake, wake)
}

func (s *subscribers) empty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.wake) == 0
}

func (s *subscribers) notify() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.wake {
		wake(c)
	}
}
