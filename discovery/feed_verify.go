// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// silentWatch is how long a watch may say nothing, although it is asked every
// five seconds, before it is verified and, with etcd reachable, begun anew.
const silentWatch = 2 * brokenAfter

// verifier is what one watch remembers between comparisons.
type verifier struct {
	heard  time.Time // the last response of the watch
	next   time.Time // the next comparison
	doubts int       // differences in a row
}

func (v *verifier) due(now time.Time) bool {
	return !now.Before(v.next) || now.Sub(v.heard) > silentWatch
}

// behind reports whether p is of another history than known, or earlier in it.
func (p position) behind(known position) bool {
	return p.cluster != known.cluster || p.revision < known.revision || p.term < known.term
}

// verify compares keys and revisions with a linearizable list. The watch may be
// a moment late, so that only a second difference in a row counts. An etcd that
// cannot be reached proves nothing either way.
func (f *feed) verify(ctx context.Context, v *verifier) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	resp, err := f.cli.Get(ctx, f.prefix, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		v.next = time.Now().Add(jittered(brokenAfter))
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if at := positionOf(resp.Header); at.behind(f.pos) {
		return fmt.Errorf("%w: at revision %d of cluster %x, expected %d of %x", errDiverged,
			at.revision, at.cluster, f.pos.revision, f.pos.cluster)
	}
	if !f.entries.matches(resp.Kvs) {
		v.next = time.Now().Add(time.Second)
		if v.doubts++; v.doubts > 1 {
			return fmt.Errorf("%w: keys differ at revision %d", errDiverged, resp.Header.Revision)
		}
		return nil
	}
	v.doubts, v.next = 0, time.Now().Add(jittered(verifyEvery))
	if time.Since(v.heard) > silentWatch {
		return errWatchSilent
	}
	return nil
}
