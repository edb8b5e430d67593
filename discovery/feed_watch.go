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
	rules := f.openWatch(ctx, cancel, f.rules.prefix, revision)
	instances := f.openWatch(ctx, cancel, f.instances.prefix, revision)
	check := time.NewTimer(jittered(brokenAfter))
	defer check.Stop()
	v := newVerifier(f)
	defer v.wait()
	defer cancel()
	for {
		behind, err := false, error(nil)
		select {
		case resp, ok := <-instances:
			if behind, err = f.receive(&f.instances, resp, ok); err == nil {
				v.heard = time.Now()
				if !resp.Created { // one that opens and ends at once is no success
					retry.reset()
				}
			}
		case resp, ok := <-rules:
			behind, err = f.receive(&f.rules, resp, ok)
		case <-check.C:
			check.Reset(jittered(brokenAfter))
		case <-f.recheck:
			check.Reset(v.soon(f.resolver.spread()))
		case found := <-v.found:
			err = v.judge(found)
		}
		if err != nil {
			return err
		}
		if behind {
			v.next = time.Now()
		}
		if v.due(time.Now()) {
			v.ask(ctx)
		}
	}
}

// receive applies one response, unless the watch has ended. A watch tells each
// change once, so one whose changes could not be applied is of no use any more.
func (f *feed) receive(s *span, resp clientv3.WatchResponse, open bool) (behind bool, err error) {
	if err := endOf(resp, open); err != nil {
		return false, err
	}
	behind = f.apply(s, &resp)
	if behind && len(resp.Events) > 0 {
		return true, fmt.Errorf("%w: changes came from a member that is behind, or from another history", errDiverged)
	}
	return behind, nil
}

// endOf is why a watch has ended, if it has.
func endOf(resp clientv3.WatchResponse, open bool) error {
	if !open {
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

// apply takes one response of a watch in. It reports whether etcd's own
// position is behind ours, which only a lagging member or another history
// explains.
func (f *feed) apply(s *span, resp *clientv3.WatchResponse) (behind bool) {
	events := make([]entry, len(resp.Events))
	for i, ev := range resp.Events {
		if ev.Type == clientv3.EventTypePut {
			events[i] = s.decode(ev.Kv)
		} else {
			events[i] = entry{key: string(ev.Kv.Key), modified: ev.Kv.ModRevision, deleted: true}
		}
	}
	f.mu.Lock()
	defer f.unlock()
	if positionOf(resp.Header).behind(s.pos) {
		return true
	}
	s.pos.term = resp.Header.RaftTerm
	changed := f.state != FeedLive && s == &f.instances
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
	if changed && len(events) > 0 {
		f.changed(s)
	} else if changed {
		f.publish()
	}
	return false
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
		changed = f.returned(e) || changed
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
