// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	// saveCalm is how soon a change is on disk while there are few, saveBusy
	// while they follow each other.
	saveCalm = 500 * time.Millisecond
	saveBusy = 5 * time.Second
)

// saver writes disk copies in one goroutine, away from the feeds: a slow disk
// delays no change.
type saver struct {
	disk *diskCopy
	log  *slog.Logger
	wake chan struct{}
	done chan struct{}

	mu     sync.Mutex
	due    map[*feed]time.Time
	last   map[*feed]time.Time
	failed map[*feed]bool
}

func newSaver(disk *diskCopy, log *slog.Logger) *saver {
	return &saver{
		disk: disk,
		log:  log,
		wake: make(chan struct{}, 1),
		done: make(chan struct{}),
		due:  make(map[*feed]time.Time),
		last: make(map[*feed]time.Time),

		failed: make(map[*feed]bool),
	}
}

// schedule has the feed's state written soon. It never blocks.
func (s *saver) schedule(f *feed) {
	if s.disk == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, pending := s.due[f]; pending {
		return
	}
	due := time.Now().Add(saveCalm)
	if busy := s.last[f].Add(saveBusy); busy.After(due) {
		due = busy
	}
	s.due[f] = due
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// forget drops a feed that has ended, after writing its last state.
func (s *saver) forget(f *feed) {
	if s.disk != nil && f.unsaved() {
		s.write(f)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.due, f)
	delete(s.last, f)
	delete(s.failed, f)
}

// run writes what is due until ctx ends.
func (s *saver) run(ctx context.Context) {
	defer close(s.done)
	for ctx.Err() == nil {
		pause(ctx, s.untilNext(), s.wake)
		for _, f := range s.take(time.Now()) {
			if !s.write(f) {
				s.schedule(f)
			}
		}
	}
}

func (s *saver) untilNext() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	wait := time.Hour
	for _, due := range s.due {
		wait = min(wait, time.Until(due))
	}
	return max(0, wait)
}

// take removes and returns the feeds due at now.
func (s *saver) take(now time.Time) []*feed {
	s.mu.Lock()
	defer s.mu.Unlock()
	var feeds []*feed
	for f, due := range s.due {
		if !due.After(now) {
			delete(s.due, f)
			s.last[f] = now
			feeds = append(feeds, f)
		}
	}
	return feeds
}

// write reports the first of a row of failures; everything else goes on.
func (s *saver) write(f *feed) (ok bool) {
	saved, current := f.snapshotForDisk()
	if !current {
		return true
	}
	saved.SavedAt = time.Now()
	err := s.disk.save(saved)
	s.mu.Lock()
	first := err != nil && !s.failed[f]
	s.failed[f] = err != nil
	s.mu.Unlock()
	if first {
		s.log.Warn("disk copy not written; a restart during an outage of etcd would miss it",
			"service", f.service, "file", s.disk.file(f.service), "error", err)
	}
	return err == nil
}
