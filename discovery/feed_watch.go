// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// watch applies changes from revision on until the watch ends, and returns
// why. The contents are compared with etcd's from time to time: a store that
// was wiped or restored ends no watch.
func (f *feed) watch(ctx context.Context, revision int64, retry *backoff) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ch := f.openWatch(ctx, cancel, revision)
	verify := time.NewTimer(jittered(verifyEvery))
	defer verify.Stop()
	doubts := 0
	for {
		var behind bool
		select {
		case resp, ok := <-ch:
			if !ok {
				return errWatchEnded
			}
			if err := resp.Err(); err != nil {
				return fmt.Errorf("watch: %w", err)
			}
			retry.reset()
			behind = f.apply(&resp)
		case <-verify.C:
			behind = true
		}
		if !behind {
			continue
		}
		next, err := f.verify(ctx, &doubts)
		if err != nil {
			return err
		}
		verify.Reset(next)
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
	defer f.mu.Unlock()
	if at := positionOf(resp.Header); at.cluster != f.pos.cluster || at.revision < f.pos.revision || at.term < f.pos.term {
		return true
	}
	f.pos.term = resp.Header.RaftTerm
	changed := f.state != FeedLive
	f.prove()
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

// verify compares keys and revisions with a fresh list. The watch may be a
// moment behind, so that only a second difference in a row counts. It returns
// when to verify next; an unreachable etcd proves nothing either way.
func (f *feed) verify(ctx context.Context, doubts *int) (next time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	resp, err := f.cli.Get(ctx, f.prefix, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		return jittered(brokenAfter), nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if at := positionOf(resp.Header); at.cluster != f.pos.cluster || at.revision < f.pos.revision || at.term < f.pos.term {
		return 0, fmt.Errorf("%w: at revision %d of cluster %x, expected %d of %x", errDiverged,
			at.revision, at.cluster, f.pos.revision, f.pos.cluster)
	}
	if f.entries.matches(resp.Kvs) {
		*doubts = 0
		return jittered(verifyEvery), nil
	}
	if *doubts++; *doubts > 1 {
		return 0, fmt.Errorf("%w: keys differ at revision %d", errDiverged, resp.Header.Revision)
	}
	return time.Second, nil
}
