// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/fairway-rpc/fairway/examples/internal/load"
	"github.com/fairway-rpc/fairway/examples/internal/table"
)

const (
	// sampleEvery is how often the counts are read, and the table is drawn in
	// place.
	sampleEvery = 500 * time.Millisecond
	// plainEvery is how many samples there are between two tables in a pipe.
	plainEvery = 4
)

// measurement is what has been counted since every provider was called.
type measurement struct {
	began time.Time
	base  load.Tally
}

// part is what has been counted so far; failures are counted from the first
// call on.
func (m measurement) part(now load.Tally) load.Tally {
	part := now.Since(m.base)
	part.Failed = now.Failed
	return part
}

// watch shows the table until the time is over, somebody quits or ctx ends.
func (s *session) watch(ctx context.Context, m measurement, keys io.Reader) {
	var over <-chan time.Time
	if s.cfg.For > 0 {
		timer := time.NewTimer(s.cfg.For)
		defer timer.Stop()
		over = timer.C
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var lines <-chan string
	if keys != nil {
		lines = readLines(ctx, keys)
	}
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	v := viewer{session: s, m: m, keys: keys != nil}
	v.sample(m.began)
	for {
		select {
		case <-ctx.Done():
			return
		case <-over:
			return
		case now := <-tick.C:
			v.sample(now)
		case line := <-lines:
			s.out.typed()
			if s.obey(ctx, line) {
				return
			}
		}
	}
}

// viewer draws the table at its times.
type viewer struct {
	*session
	m       measurement
	keys    bool
	window  window
	samples int
}

func (v *viewer) sample(now time.Time) {
	snapshot, tally := v.snapshot(), v.counts.Read()
	part, span := v.window.add(now, tally, listedBy(snapshot))
	v.samples++
	if !v.out.inPlace && v.samples%plainEvery != plainEvery-1 || v.samples == 1 {
		return
	}
	view := v.view(snapshot, part, span)
	all := v.m.part(tally)
	view.Elapsed, view.Calls, view.Failed = now.Sub(v.m.began), all.Calls, all.Failed
	if v.out.inPlace || v.samples < plainEvery {
		view.Hints = v.hints()
	}
	v.out.show(view)
}

func (v *viewer) hints() []string {
	if v.keys {
		return hints
	}
	return noHints
}

// last is the view of the whole measurement.
func (s *session) last(m measurement, tally load.Tally, lasted time.Duration) table.View {
	part := m.part(tally)
	v := s.view(s.snapshot(), part, lasted)
	v.Elapsed, v.Calls, v.Failed = lasted, part.Calls, part.Failed
	return v
}

// obey does what a line asks for and reports whether that is to quit. What
// takes time is done beside the table.
func (s *session) obey(ctx context.Context, line string) (quit bool) {
	c, err := parseCommand(line, len(s.providers))
	if err != nil {
		s.out.say("%v", err)
		return false
	}
	switch c.key {
	case keyQuit:
		return true
	case keyEtcd:
		s.actions.Go(func() { s.toggleEtcd(ctx) })
	case keyStop:
		s.actions.Go(func() { s.stopProvider(c.provider) })
	case keyStart:
		s.actions.Go(func() { s.startProvider(c.provider) })
	}
	return false
}

func (s *session) stopProvider(n int) {
	s.out.say("Provider %d leaves etcd, then ends its calls ...", n)
	if err := s.providers[n-1].Stop(); err != nil {
		s.out.say("%v", err)
		return
	}
	s.out.say("Provider %d has stopped: the others have its share.", n)
}

func (s *session) startProvider(n int) {
	if err := s.providers[n-1].Start(); err != nil {
		s.out.say("%v", err)
		return
	}
	s.out.say("Provider %d has started: Kitex registers it in a second.", n)
}

func (s *session) toggleEtcd(ctx context.Context) {
	if s.etcd.Running() {
		s.etcd.Stop()
		s.out.say("etcd has stopped: the calls go on, and the feed turns stale within seconds.")
		return
	}
	s.out.say("Starting etcd with its data ...")
	if err := s.etcd.Start(ctx); err != nil && !errors.Is(err, context.Canceled) {
		s.out.say("%v", err)
		return
	}
	s.out.say("etcd serves again at %s.", s.etcd.Endpoint())
}
