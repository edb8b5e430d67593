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
	// while they follow each other, or after a failure.
	saveCalm = 500 * time.Millisecond
	saveBusy = 5 * time.Second
)

// saver writes disk copies in one goroutine, away from the feeds and the
// resolver's clock: a slow disk delays no change.
type saver struct {
	disk *diskCopy
	log  *slog.Logger
	wake chan struct{}
	done chan struct{}

	mu      sync.Mutex
	feeds   map[*feed]*saveState
	stopped bool // run writes no more
}

// saveState is what the saver knows of one feed.
type saveState struct {
	due    time.Time // when to write; zero if nothing is owed
	last   time.Time // the last try
	failed bool      // it did
	ended  bool      // the feed has; it is written once more and forgotten
}

func newSaver(disk *diskCopy, log *slog.Logger) *saver {
	return &saver{
		disk:  disk,
		log:   log,
		wake:  make(chan struct{}, 1),
		done:  make(chan struct{}),
		feeds: make(map[*feed]*saveState),
	}
}

// schedule has the feed's state written soon. It never blocks. A write that is
// owed already is not put off, however fast changes follow.
func (s *saver) schedule(f *feed) {
	if s.disk == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owe(s.state(f))
}

// forget drops a feed that has ended, after its last state has been written:
// by run, so that the caller need not wait for the disk, or here once run is
// over.
func (s *saver) forget(f *feed) {
	if s.disk == nil {
		return
	}
	unsaved := f.unsaved()
	s.mu.Lock()
	state := s.state(f)
	state.ended = true
	if unsaved || state.failed || !state.due.IsZero() {
		state.due = time.Now()
	}
	stopped := s.stopped
	s.notify()
	s.mu.Unlock()
	if stopped {
		s.round()
	}
}

// run writes what is due until ctx ends.
func (s *saver) run(ctx context.Context) {
	defer close(s.done)
	for ctx.Err() == nil {
		pause(ctx, s.untilNext(), s.wake)
		s.round()
	}
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	s.round() // of feeds that have ended in between
}

// round writes what is due now.
func (s *saver) round() {
	for _, f := range s.take(time.Now()) {
		s.settle(f, s.write(f))
	}
}

// state returns what is known of the feed. Callers hold mu.
func (s *saver) state(f *feed) *saveState {
	state := s.feeds[f]
	if state == nil {
		state = &saveState{}
		s.feeds[f] = state
	}
	return state
}

// owe sets when to write, unless that is set. Callers hold mu.
func (s *saver) owe(state *saveState) {
	if !state.due.IsZero() {
		return
	}
	state.due = time.Now().Add(saveCalm)
	if busy := state.last.Add(saveBusy); busy.After(state.due) {
		state.due = busy
	}
	s.notify()
}

func (s *saver) notify() { wake(s.wake) }

func (s *saver) untilNext() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	wait := time.Hour
	for _, state := range s.feeds {
		if !state.due.IsZero() {
			wait = min(wait, time.Until(state.due))
		}
	}
	return max(0, wait)
}

// take returns the feeds due at now, of which nothing is owed then, and drops
// those that have ended and need no write.
func (s *saver) take(now time.Time) []*feed {
	s.mu.Lock()
	defer s.mu.Unlock()
	var feeds []*feed
	for f, state := range s.feeds {
		switch {
		case state.due.IsZero():
			if state.ended {
				delete(s.feeds, f)
			}
		case !state.due.After(now):
			state.due, state.last = time.Time{}, now
			feeds = append(feeds, f)
		}
	}
	return feeds
}

// write saves the present state of the feed; there is none to save while that
// is not etcd's own.
func (s *saver) write(f *feed) error {
	saved, current := f.snapshotForDisk()
	if !current {
		return nil
	}
	saved.SavedAt = time.Now()
	return s.disk.save(saved)
}

// settle has a failed write tried again, for as long as the feed lives, and
// reports the first of a row of failures and its end. Everything else goes on.
func (s *saver) settle(f *feed, err error) {
	s.mu.Lock()
	state := s.state(f)
	changed := state.failed != (err != nil)
	state.failed = err != nil
	if err != nil && !state.ended {
		s.owe(state)
	}
	if state.ended && state.due.IsZero() {
		delete(s.feeds, f)
	}
	s.mu.Unlock()
	if !changed {
		return
	}
	if err == nil {
		s.log.Info("disk copy written again", "service", f.service, "file", s.disk.file(f.service))
		return
	}
	s.log.Warn("disk copy not written; a restart during an outage of etcd would miss it; trying again, or name another folder with WithSnapshotDir",
		"service", f.service, "file", s.disk.file(f.service), "error", err)
}
