// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// watch applies changes from the listed revision on until a watch ends, and
// returns why. An event that the list has seen already is ignored when it
// comes; a watch that began one revision later would get no progress
// notification from an etcd in which nothing is written (it counts the watcher
// as not synchronised until that revision exists).
//
// A store that was wiped or restored ends no watch, and a watch can fall silent
// without ending. So what is known is compared with etcd from time to time, and
// early when the watch is silent or the connection was lost.
func (f *feed) watch(ctx context.Context, revision int64, retry *backoff) error {
	ctx, cancel := context.WithCancel(ctx)
	w := &watcher{
		feed:      f,
		retry:     retry,
		rules:     f.openWatch(ctx, cancel, f.rules.prefix, revision),
		instances: f.openWatch(ctx, cancel, f.instances.prefix, revision),
		check:     time.NewTimer(jittered(brokenAfter)),
		verifier:  newVerifier(f),
	}
	defer w.check.Stop()
	defer w.verifier.wait()
	defer cancel()
	for {
		behind, err := w.next()
		if err != nil {
			return err
		}
		if behind {
			w.verifier.next = time.Now()
		}
		if w.verifier.due(time.Now()) {
			w.verifier.ask(ctx)
		}
	}
}

// watcher is what one watch of a feed waits for.
type watcher struct {
	feed      *feed
	retry     *backoff
	rules     clientv3.WatchChan
	instances clientv3.WatchChan
	check     *time.Timer
	verifier  *verifier
}

// next waits for what comes next and deals with it.
func (w *watcher) next() (behind bool, err error) {
	f := w.feed
	select {
	case resp, open := <-w.instances:
		if behind, err = f.receive(&f.instances, w.ready(w.instances, resp, open)); err == nil {
			w.verifier.heard = time.Now()
			if !resp.Created { // one that opens and ends at once is no success
				w.retry.reset()
			}
		}
	case resp, open := <-w.rules:
		behind, err = f.receive(&f.rules, w.ready(w.rules, resp, open))
	case <-w.check.C:
		w.check.Reset(jittered(brokenAfter))
	case <-f.recheck:
		w.check.Reset(w.verifier.soon(f.resolver.spread()))
	case found := <-w.verifier.found:
		err = w.verifier.judge(found)
	}
	return behind, err
}

// batch bounds how many responses are published together.
const batch = 256

// ready takes what is there already after a first response: many changes at once
// are to be published once.
func (w *watcher) ready(watch clientv3.WatchChan, first clientv3.WatchResponse, open bool) (all []response) {
	all = []response{{first, open}}
	for open && len(all) < batch {
		select {
		case resp, still := <-watch:
			open = still
			all = append(all, response{resp, still})
		default:
			return all
		}
	}
	return all
}

// response is what a watch says, or that it has ended.
type response struct {
	clientv3.WatchResponse

	open bool
}

// receive applies responses up to the end of the watch, if that is among them. A
// watch tells each change once, so one whose changes could not be applied is of
// no use any more.
func (f *feed) receive(s *span, all []response) (behind bool, err error) {
	for i := range all {
		if err = endOf(&all[i]); err != nil {
			all = all[:i]
			break
		}
	}
	behind, lost := f.apply(s, all)
	if err == nil && lost {
		err = fmt.Errorf("%w: changes came from a member that is behind, or from another history", errDiverged)
	}
	return behind, err
}

// endOf is why a watch has ended, if it has.
func endOf(resp *response) error {
	if !resp.open {
		return errWatchEnded
	}
	if err := resp.Err(); err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	return nil
}

// openWatch starts a watch, which blocks until etcd has confirmed it; one that
// is not confirmed in time is given up.
func (f *feed) openWatch(ctx context.Context, cancel context.CancelFunc, prefix string, revision int64) clientv3.WatchChan {
	late := time.AfterFunc(2*brokenAfter, cancel)
	defer late.Stop()
	return f.cli.Watch(ctx, prefix, clientv3.WithPrefix(), clientv3.WithRev(revision),
		clientv3.WithProgressNotify(), clientv3.WithCreatedNotify())
}

// apply takes responses of a watch in and publishes what they lead to. It reports
// whether etcd's own position is behind ours, which only a lagging member or
// another history explains, and whether changes were lost by that.
func (f *feed) apply(s *span, all []response) (behind, lost bool) {
	events := make([][]entry, len(all)) // decoded first: what cannot be read is logged
	for i := range all {
		events[i] = s.events(&all[i])
	}
	f.mu.Lock()
	defer f.unlock()
	changed, visible := false, len(all) > 0 && f.state != FeedLive && s == &f.instances
	for i := range all {
		if positionOf(all[i].Header).behind(s.pos) {
			behind, lost = true, lost || len(events[i]) > 0
			continue
		}
		if f.applyOne(s, &all[i], events[i]) {
			changed = true
		}
	}
	switch {
	case changed:
		f.changed(s)
	case visible && !behind:
		f.publish()
	}
	return behind, lost
}

// events are what a response tells of.
func (s *span) events(resp *response) []entry {
	events := make([]entry, len(resp.Events))
	for i, ev := range resp.Events {
		if ev.Type == clientv3.EventTypePut {
			events[i] = s.decode(ev.Kv)
		} else {
			events[i] = entry{key: string(ev.Kv.Key), modified: ev.Kv.ModRevision, deleted: true}
		}
	}
	return events
}

// applyOne takes one response in and reports whether a consumer can see the
// difference. Callers hold f.mu.
func (f *feed) applyOne(s *span, resp *response, events []entry) (changed bool) {
	s.pos.term = resp.Header.RaftTerm
	if s == &f.instances {
		f.watched()
	}
	for _, e := range events {
		changed = f.take(s, e) || changed
		s.pos.revision = max(s.pos.revision, e.modified)
	}
	if resp.IsProgressNotify() {
		s.pos.revision = max(s.pos.revision, resp.Header.Revision)
	}
	return changed
}

// take stores one event and reports whether a consumer can see the difference.
// Callers hold f.mu.
func (f *feed) take(s *span, e entry) (changed bool) {
	old := s.entries.get(e.key)
	if e.deleted {
		changed = s.entries.remove(e.key, e.modified)
	} else {
		changed = s.entries.put(e)
	}
	switch {
	case e.instance != nil:
		changed = f.registeredAgain([]*Instance{e.instance}) || changed
	case changed:
		f.gone(old) // or unreadable, which is the same to consumers
	}
	return changed
}

// changed publishes what events have led to. Callers hold f.mu.
func (f *feed) changed(s *span) {
	if s == &f.rules {
		f.readRules()
	} else {
		f.judge(time.Now())
	}
	f.publish()
	f.save()
}
