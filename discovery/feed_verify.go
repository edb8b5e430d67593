// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	// silentWatch is how long a watch may say nothing, although it is asked every
	// five seconds, before it is verified and, with etcd reachable, begun anew.
	silentWatch = 2 * brokenAfter
	// Of a large service every tenth comparison reads all keys, the others their
	// number and the newest.
	largeService  = 1000
	wholeEveryNth = 10
)

// verifier compares what a watch has led to with etcd, beside the watch, which
// must not wait for it. Its methods belong to the watch's goroutine.
type verifier struct {
	feed   *feed
	heard  time.Time // the last response of the watch
	began  time.Time // the last comparison
	next   time.Time // the next comparison, if the watch is not silent before
	round  int
	asking bool
	found  chan finding
	asked  sync.WaitGroup
}

// finding is the outcome of a comparison: equal, an error that wraps
// errDiverged, or any other, by which nothing is known.
type finding struct{ err error }

func newVerifier(f *feed) *verifier {
	v := &verifier{feed: f, heard: time.Now(), found: make(chan finding, 1)}
	v.next = v.after(f.cfg.verifyEvery)
	return v
}

// after is when to compare next; never where verification is off.
func (v *verifier) after(d time.Duration) time.Time {
	if v.feed.cfg.verifyEvery == 0 {
		return time.Now().Add(100 * 365 * 24 * time.Hour)
	}
	return time.Now().Add(jittered(d))
}

// due reports whether to compare. What a silent watch asks for may fail at once,
// and is then tried again when the next look is due, not at once.
func (v *verifier) due(now time.Time) bool {
	silent := now.Sub(v.heard) > silentWatch && now.Sub(v.began) >= brokenAfter/2
	return silent || !now.Before(v.next)
}

// soon makes a comparison due after wait, and returns when to look again.
func (v *verifier) soon(wait time.Duration) time.Duration {
	if v.feed.cfg.verifyEvery > 0 {
		v.next = time.Now().Add(wait)
	}
	return wait
}

// wait returns when no comparison is under way; its context has ended.
func (v *verifier) wait() { v.asked.Wait() }

// ask compares each span at the very revision up to which it is complete, so
// that changes which are on their way make no difference. What asks for a
// comparison while one is under way may mean another etcd than this one reads
// from: it stays due until judge.
func (v *verifier) ask(ctx context.Context) {
	if v.asking {
		return
	}
	v.asking, v.began = true, time.Now()
	v.next = v.after(v.feed.cfg.verifyEvery)
	whole := v.round%wholeEveryNth == 0
	v.round++
	f := v.feed
	f.mu.Lock()
	spans := []span{f.instances, f.rules}
	for i := range spans {
		spans[i].entries = slices.Clone(spans[i].entries)
	}
	f.mu.Unlock()
	v.asked.Go(func() {
		for i := range spans {
			if err := spans[i].verify(ctx, f.cli, whole); err != nil {
				v.found <- finding{err}
				return
			}
		}
		v.found <- finding{}
	})
}

// judge ends the watch if etcd's history is another one, or if the watch is
// silent although etcd can be reached. An etcd that cannot be reached proves
// nothing either way; one that has forgotten the revision can be reached.
func (v *verifier) judge(found finding) error {
	v.asking = false
	reached := found.err == nil || errors.Is(found.err, rpctypes.ErrCompacted)
	switch {
	case errors.Is(found.err, errDiverged):
		return found.err
	case reached && time.Since(v.heard) > silentWatch:
		return errWatchSilent
	case found.err != nil:
		if retry := v.after(brokenAfter); retry.Before(v.next) {
			v.next = retry
		}
	}
	return nil
}

// verify compares the entries with what etcd had at their revision.
func (s *span) verify(ctx context.Context, cli *clientv3.Client, whole bool) error {
	compare := s.verifyKeys
	if len(s.entries) > largeService && !whole {
		compare = s.verifySummary
	}
	at, same, err := compare(ctx, cli)
	switch {
	case errors.Is(err, rpctypes.ErrFutureRev):
		return fmt.Errorf("%w: it has not reached revision %d", errDiverged, s.pos.revision)
	case err != nil:
		return err
	case at.behind(s.pos):
		return fmt.Errorf("%w: at revision %d of cluster %x, expected %d of %x", errDiverged,
			at.revision, at.cluster, s.pos.revision, s.pos.cluster)
	case !same:
		return fmt.Errorf("%w: keys under %s differ at revision %d", errDiverged, s.prefix, s.pos.revision)
	}
	return nil
}

// verifyKeys compares all keys and their revisions, and a lease.
func (s *span) verifyKeys(ctx context.Context, cli *clientv3.Client) (at position, same bool, err error) {
	next := 0
	same = true
	at, err = s.pages(ctx, cli, s.pos.revision, func(kv *mvccpb.KeyValue) {
		same = same && next < len(s.entries) && s.entries[next].is(kv)
		next++
	}, clientv3.WithKeysOnly())
	if same = same && next == len(s.entries); err == nil && same {
		same, err = s.verifyLease(ctx, cli)
	}
	return at, same, err
}

// verifyLease compares the lease of one key: a small store that was wiped and
// filled again in the same order has each key at its old revision, but all of them
// under other leases.
func (s *span) verifyLease(ctx context.Context, cli *clientv3.Client) (same bool, err error) {
	e, ok := s.entries.leased()
	if !ok {
		return true, nil
	}
	resp, err := get(ctx, cli, e.key, clientv3.WithRev(s.pos.revision))
	if err != nil {
		return false, err
	}
	return len(resp.Kvs) == 1 && resp.Kvs[0].ModRevision == e.modified && resp.Kvs[0].Lease == e.lease, nil
}

// verifySummary compares the number of keys and the one that was written last.
func (s *span) verifySummary(ctx context.Context, cli *clientv3.Client) (at position, same bool, err error) {
	resp, err := get(ctx, cli, s.prefix, clientv3.WithPrefix(), clientv3.WithRev(s.pos.revision),
		clientv3.WithLimit(1), clientv3.WithSort(clientv3.SortByModRevision, clientv3.SortDescend))
	if err != nil {
		return position{}, false, err
	}
	same = resp.Count == int64(len(s.entries)) && len(resp.Kvs) == 1 &&
		resp.Kvs[0].ModRevision == s.entries.newest() && s.entries.has(resp.Kvs[0])
	return positionOf(resp.Header), same, nil
}
