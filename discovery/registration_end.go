// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"errors"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// end takes the provider out of etcd and, if consumers may have seen it, waits
// for the drain delay. The loop is stopped first, so that nothing puts the key
// back.
func (g *registration) end() {
	visible := g.halt(endWithin)
	if visible {
		time.Sleep(g.cfg.drainDelay)
	}
}

// halt stops the loop and gives etcd the given time to forget the provider. It
// reports whether consumers may have seen it.
func (g *registration) halt(within time.Duration) (visible bool) {
	g.stop()
	<-g.done
	g.mu.Lock()
	lease, visible := g.lease, g.tried
	g.mu.Unlock()
	if lease == clientv3.NoLease {
		return visible
	}
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	if err := g.leave(ctx, lease); err != nil {
		g.log.Warn("not taken out of etcd; the key ends with its lease", "error", err, "ttl", g.cfg.ttl)
	} else {
		g.log.Info("deregistered", "drain_delay", g.cfg.drainDelay)
	}
	return visible
}

// leave deletes the key and revokes the lease, so that a put still on its way
// fails.
func (g *registration) leave(ctx context.Context, lease clientv3.LeaseID) error {
	err := g.remove(ctx)
	_, revokeErr := g.cli.Revoke(ctx, lease)
	if isLeaseNotFound(revokeErr) {
		revokeErr = nil // gone already, and the key with it
	}
	return errors.Join(err, revokeErr)
}

// remove tells consumers that the provider goes on purpose, and then deletes
// the key. The key of a successor at the same address is left alone, one of
// ours under an earlier lease is not.
func (g *registration) remove(ctx context.Context) error {
	resp, err := g.cli.Get(ctx, g.key)
	if err != nil || len(resp.Kvs) == 0 {
		return err
	}
	leaving := *g.wanted()
	found, err := decodeRecord(resp.Kvs[0].Value)
	if err != nil || found.Instance != leaving.Instance {
		return nil //nolint:nilerr // not ours, whatever it is
	}
	leaving.State = StateLeaving
	value, err := leaving.encode()
	if err != nil {
		return err
	}
	lease := clientv3.LeaseID(resp.Kvs[0].Lease)
	if lease == clientv3.NoLease { // someone rewrote it so; a put would make it permanent
		return g.whileUnder(ctx, lease, clientv3.OpDelete(g.key))
	}
	if err := g.whileUnder(ctx, lease, clientv3.OpPut(g.key, string(value), clientv3.WithLease(lease))); err != nil {
		return err
	}
	return g.whileUnder(ctx, lease, clientv3.OpDelete(g.key))
}

// whileUnder does op if the key still carries the lease.
func (g *registration) whileUnder(ctx context.Context, lease clientv3.LeaseID, op clientv3.Op) error {
	_, err := g.cli.Txn(ctx).
		If(clientv3.Compare(clientv3.LeaseValue(g.key), "=", lease)).
		Then(op).
		Commit()
	return err
}
