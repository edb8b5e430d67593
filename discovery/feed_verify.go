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

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// silentWatch is how long a watch may say nothing, although it is asked every
// five seconds, before it is verified and, with etcd reachable, begun anew.
const silentWatch = 2 * brokenAfter

// verifier compares what a watch has led to with etcd, beside the watch, which
// must not wait for it. Its methods belong to the watch's goroutine.
type verifier struct {
	feed    *feed
	heard   time.Time // the last response of the watch
	next    time.Time // the next comparison
	asking  bool
	answers chan verifyAnswer
	asked   sync.WaitGroup
}

// verifyAnswer is etcd's list at the position that the feed had then.
type verifyAnswer struct {
	began   time.Time
	pos     position
	entries entries
	resp    *clientv3.GetResponse
	err     error
}

func newVerifier(f *feed) *verifier {
	now := time.Now()
	return &verifier{feed: f, heard: now, next: now.Add(jittered(verifyEvery)), answers: make(chan verifyAnswer, 1)}
}

func (v *verifier) due(now time.Time) bool {
	return !now.Before(v.next) || now.Sub(v.heard) > silentWatch
}

// wait returns when no question is under way; its context has ended.
func (v *verifier) wait() { v.asked.Wait() }

// ask reads the keys at the very revision up to which the feed is complete, so
// that changes which are on their way make no difference.
func (v *verifier) ask(ctx context.Context) {
	if v.asking {
		return
	}
	v.asking = true
	f := v.feed
	f.mu.Lock()
	answer := verifyAnswer{began: time.Now(), pos: f.pos, entries: slices.Clone(f.entries)}
	f.mu.Unlock()
	v.asked.Go(func() {
		bounded, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		answer.resp, answer.err = f.cli.Get(bounded, f.prefix, clientv3.WithPrefix(), clientv3.WithKeysOnly(),
			clientv3.WithRev(answer.pos.revision))
		v.answers <- answer
	})
}

// judge ends the watch if etcd's history is another one, or if the watch is
// silent although etcd can be reached. An etcd that cannot be reached, or that
// has forgotten the revision, proves nothing either way.
func (v *verifier) judge(a verifyAnswer) error {
	v.asking = false
	if errors.Is(a.err, rpctypes.ErrFutureRev) {
		return fmt.Errorf("%w: it has not reached revision %d", errDiverged, a.pos.revision)
	}
	if a.err != nil {
		v.next = time.Now().Add(jittered(brokenAfter))
		return nil //nolint:nilerr // no answer is no difference
	}
	v.next = time.Now().Add(jittered(verifyEvery))
	if at := positionOf(a.resp.Header); at.behind(a.pos) {
		return fmt.Errorf("%w: at revision %d of cluster %x, expected %d of %x", errDiverged,
			at.revision, at.cluster, a.pos.revision, a.pos.cluster)
	}
	if !a.entries.matches(a.resp.Kvs) {
		return fmt.Errorf("%w: keys differ at revision %d", errDiverged, a.pos.revision)
	}
	if time.Since(v.heard) > silentWatch {
		return errWatchSilent
	}
	return nil
}

// behind reports whether p is of another history than known, or earlier in it.
func (p position) behind(known position) bool {
	return p.cluster != known.cluster || p.revision < known.revision || p.term < known.term
}
