// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// end takes the provider out of etcd and, if consumers may have seen it, waits
// for the drain delay. The loop is stopped first, so that nothing puts the key
// back.
func (g *registration) end(delay *sharedDelay) {
	if g.halt(endWithin) {
		time.Sleep(delay.left(time.Now()))
	}
	g.enter(Deregistered, nil)
}

// halt stops the loop and gives etcd the given time to forget the provider. It
// reports whether consumers may have seen it.
func (g *registration) halt(within time.Duration) (visible bool) {
	g.enter(Leaving, nil)
	g.stop()
	<-g.done
	g.mu.Lock()
	visible = g.tried
	g.mu.Unlock()
	if len(g.leases) == 0 {
		return visible
	}
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	if err := g.leave(ctx); err != nil {
		g.log.Warn("not taken out of etcd; the key ends with its lease", "key", g.wanted().key, "ttl", g.cfg.ttl, "error", err)
	}
	return visible
}

// leave deletes the key and revokes every lease under which it may have been
// put, so that a put still on its way fails.
func (g *registration) leave(ctx context.Context) error {
	g.revision = 0 // whatever store it is, the key is to go
	err := g.remove(ctx, g.wanted())
	return errors.Join(err, g.forget(ctx, clientv3.NoLease))
}

// remove tells consumers that the provider goes on purpose, and then deletes
// the key. The key of a successor at the same address is left alone, one of
// ours under an earlier lease is not.
func (g *registration) remove(ctx context.Context, t target) error {
	found, err := g.read(ctx, t.key)
	if err != nil || found == nil {
		return err
	}
	other, err := decodeRecord(found.Value)
	if err != nil || other.Instance != t.record.Instance {
		return nil //nolint:nilerr // not ours, whatever it is
	}
	leaving := *t.record
	leaving.State = StateLeaving
	value, err := leaving.encode()
	if err != nil {
		return err
	}
	lease := clientv3.LeaseID(found.Lease)
	if lease == clientv3.NoLease { // someone rewrote it so; a put would make it permanent
		return g.whileUnder(ctx, t.key, lease, clientv3.OpDelete(t.key))
	}
	g.written = 0
	g.sending(value)
	if err := g.whileUnder(ctx, t.key, lease, clientv3.OpPut(t.key, string(value), clientv3.WithLease(lease))); err != nil {
		return err
	}
	return g.whileUnder(ctx, t.key, lease, clientv3.OpDelete(t.key))
}

// whileUnder does op if the key still carries the lease.
func (g *registration) whileUnder(ctx context.Context, key string, lease clientv3.LeaseID, op clientv3.Op) error {
	_, err := g.cli.Txn(ctx).
		If(clientv3.Compare(clientv3.LeaseValue(key), "=", lease)).
		Then(op).
		Commit()
	return err
}

// forget revokes all leases of this registration but one. Those that etcd does
// not know are gone already; of the others a put may still be on its way.
func (g *registration) forget(ctx context.Context, but clientv3.LeaseID) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var errs []error
	g.leases = slices.DeleteFunc(g.leases, func(id clientv3.LeaseID) bool {
		if id == but {
			return false
		}
		_, err := g.cli.Revoke(ctx, id)
		if err != nil && !isLeaseNotFound(err) {
			errs = append(errs, err)
			return false
		}
		return true
	})
	return errors.Join(errs...)
}

// sharedDelay is one drain delay for servers that stop together: who comes
// within its first tenth shares it.
type sharedDelay struct {
	delay time.Duration

	mu    sync.Mutex
	began time.Time
}

// left is how long a server whose key is gone now has to wait.
func (d *sharedDelay) left(now time.Time) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if since := now.Sub(d.began); since >= 0 && since <= d.delay/10 {
		return d.delay - since
	}
	d.began = now
	return d.delay
}
