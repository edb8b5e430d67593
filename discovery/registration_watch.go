// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"bytes"
	"context"
	"errors"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

var errWatchClosed = errors.New("the watch was closed")

// watchKey wakes the loop whenever someone else has changed the own key, and
// whenever a watch begins, since nobody saw what happened before.
func (g *registration) watchKey(ctx context.Context, lease clientv3.LeaseID) {
	retry := backoff{base: retryBase, ceiling: retryCeiling}
	for ctx.Err() == nil {
		began := time.Now()
		err := g.followKey(ctx, lease)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > retryCeiling {
			retry.reset()
		}
		if held, ok := g.noise.Allow("watch: " + err.Error()); ok {
			g.log.Info("watch of the own key broke; opening another", "error", err, "repeated", held)
		}
		pause(ctx, retry.next(), nil)
	}
}

// followKey watches until the watch ends, and never returns nil.
func (g *registration) followKey(ctx context.Context, lease clientv3.LeaseID) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for resp := range g.cli.Watch(ctx, g.wanted().key, clientv3.WithCreatedNotify()) {
		if err := resp.Err(); err != nil {
			return err
		}
		if resp.Created {
			wake(g.foreign)
		}
		if !g.hasForeign(resp.Events, lease) {
			continue
		}
		wake(g.foreign)
		// One who keeps changing it does not keep us busy. The first change is
		// answered at once.
		pause(ctx, retryBase, nil)
	}
	return errWatchClosed
}

func (g *registration) hasForeign(events []*clientv3.Event, lease clientv3.LeaseID) bool {
	for _, e := range events {
		if g.isForeign(e, lease) {
			return true
		}
	}
	return false
}

// isForeign reports whether an event of the own key is none of our own writes
// for all we know: of two that follow each other closely, the first may look so.
func (g *registration) isForeign(e *clientv3.Event, lease clientv3.LeaseID) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if e.Type == clientv3.EventTypeDelete {
		return !g.target.hidden
	}
	return e.Kv.Lease != int64(lease) || !bytes.Equal(e.Kv.Value, g.sent)
}
