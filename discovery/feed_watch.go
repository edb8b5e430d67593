// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// watch applies changes from the listed revision on until the watch ends, and
// returns why. An event that the list has seen already is ignored when it
// comes; a watch that began one revision later would get no progress
// notification from an etcd in which nothing is written (it counts the watcher
// as not synchronised until that revision exists).
//
// A store that was wiped or restored ends no watch, and a watch can fall silent
// without ending. So what is known is compared with etcd from time to time, and
// early when the watch is silent.
func (f *feed) watch(ctx context.Context, revision int64, retry *backoff) error {
	ctx, cancel := context.WithCancel(ctx)
	ch := f.openWatch(ctx, cancel, revision)
	check := time.NewTicker(jittered(brokenAfter))
	defer check.Stop()
	v := newVerifier(f)
	defer v.wait()
	defer cancel()
	for {
		behind := false
		select {
		case resp, ok := <-ch:
			if !ok {
				return errWatchEnded
			}
			if err := resp.Err(); err != nil {
				return fmt.Errorf("watch: %w", err)
			}
			retry.reset()
			v.heard = time.Now()
			behind = f.apply(&resp)
		case <-check.C:
		case answer := <-v.answers:
			if err := v.judge(answer); err != nil {
				return err
			}
		}
		if behind || v.due(time.Now()) {
			v.ask(ctx)
		}
	}
}

// openWatch starts the watch, which blocks until etcd has confirmed it; one
// that is not confirmed in time is given up.
func (f *feed) openWatch(ctx context.Context, cancel context.CancelFunc, revision int64) clientv3.WatchChan {
	late := time.AfterFunc(2*brokenAfter, cancel)
	defer late.Stop()
	return f.cli.Watch(ctx, f.prefix, clientv3.WithPrefix(), clientv3.WithRev(revision),
		clientv3.WithProgressNotify(), clientv3.WithCreatedNotify())
}

// apply takes one response of the watch in. It reports whether etcd's own
// position is behind ours, which only a lagging member or another history
// explains.
func (f *feed) apply(resp *clientv3.WatchResponse) (behind bool) {
	decoded := make([]entry, 0, len(resp.Events))
	for _, ev := range resp.Events {
		if ev.Type == clientv3.EventTypePut {
			decoded = append(decoded, f.decode(ev.Kv))
		} else {
			decoded = append(decoded, entry{key: string(ev.Kv.Key), modified: ev.Kv.ModRevision})
		}
	}
	f.mu.Lock()
	defer f.unlock()
	if positionOf(resp.Header).behind(f.pos) {
		return true
	}
	f.pos.term = resp.Header.RaftTerm
	changed := f.state != FeedLive
	f.watched()
	for i, ev := range resp.Events {
		if ev.Type == clientv3.EventTypePut {
			changed = f.entries.put(decoded[i]) || changed
		} else {
			changed = f.entries.remove(decoded[i].key, decoded[i].modified) || changed
		}
		f.pos.revision = max(f.pos.revision, decoded[i].modified)
	}
	if resp.IsProgressNotify() {
		f.pos.revision = max(f.pos.revision, resp.Header.Revision)
	}
	if changed {
		f.publish()
	}
	if changed && len(resp.Events) > 0 {
		f.save(f)
	}
	return false
}
