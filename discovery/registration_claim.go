// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// claim makes the key hold the target's record under the lease. It writes
// nothing if it already does, and leaves the key to a provider at the same
// address that started later.
func (g *registration) claim(ctx context.Context, lease clientv3.LeaseID, t target) error {
	found, err := g.read(ctx, t.key)
	if err != nil {
		return err
	}
	value, err := t.record.encode()
	if err != nil {
		return err
	}
	revision := int64(0)
	if found != nil {
		if found.Lease == int64(lease) && bytes.Equal(found.Value, value) {
			return nil
		}
		if other := superseder(found, t.record); other != nil {
			return fmt.Errorf("%w: key %s, instance %s, started at %s",
				errConflict, t.key, other.Instance, other.StartedAt.Format(time.RFC3339))
		}
		revision = found.ModRevision
	}
	g.noteForeign(t.key, revision)
	return g.put(ctx, lease, t.key, value, revision)
}

// read gets the own key; nil if it does not exist.
func (g *registration) read(ctx context.Context, key string) (*mvccpb.KeyValue, error) {
	resp, err := g.cli.Get(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("read own key: %w", err)
	}
	if resp.Header.Revision < g.revision {
		// The watch would stay silent until the old revision is reached.
		g.revision = 0
		return nil, errStoreReset
	}
	g.revision = resp.Header.Revision
	if len(resp.Kvs) == 0 {
		return nil, nil //nolint:nilnil // absent, and no error
	}
	return resp.Kvs[0], nil
}

// superseder is the record of another live process that started later than
// ours, or nil; of two that started together, one gives way. A key without a
// lease belongs to nobody, and a record without these fields is
// registry-etcd's, over which ours wins.
func superseder(found *mvccpb.KeyValue, ours *record) *record {
	other, err := decodeRecord(found.Value)
	if err != nil || found.Lease == 0 || other.Instance == "" || other.Instance == ours.Instance || other.State == StateLeaving {
		return nil
	}
	if other.StartedAt.After(ours.StartedAt) || other.StartedAt.Equal(ours.StartedAt) && other.Instance > ours.Instance {
		return other
	}
	return nil
}

// put writes the key if nobody has changed it since it was read. So a put that
// timed out and comes late cannot bring an old record back.
func (g *registration) put(ctx context.Context, lease clientv3.LeaseID, key string, value []byte, revision int64) error {
	if lease == clientv3.NoLease {
		return errLeaseLost // a put under no lease would stay for ever
	}
	g.sending(value)
	resp, err := g.cli.Txn(ctx).
		If(clientv3.Compare(clientv3.ModRevision(key), "=", revision)).
		Then(clientv3.OpPut(key, string(value), clientv3.WithLease(lease))).
		Commit()
	if isLeaseNotFound(err) {
		return errLeaseLost
	}
	if err != nil {
		return fmt.Errorf("write own key: %w", err)
	}
	if !resp.Succeeded {
		return fmt.Errorf("%w: key %s", errKeyLost, key)
	}
	g.written = resp.Header.Revision
	return nil
}

// noteForeign logs that someone else has changed the key (to the revision) or
// deleted it (0) since we wrote it under the present lease.
func (g *registration) noteForeign(key string, revision int64) {
	if g.written == 0 || g.written == revision {
		return
	}
	if held, ok := g.noise.Allow("foreign"); ok {
		g.log.Warn("someone else deleted or changed the own key; putting it back", "key", key, "repeated", held)
	}
}

func (g *registration) sending(value []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tried, g.sent = true, value
}

func isLeaseNotFound(err error) bool { return errors.Is(err, rpctypes.ErrLeaseNotFound) }

// explained adds to etcd's error what to do about it, where that is known.
func explained(err error) error {
	if errors.Is(err, rpctypes.ErrNoSpace) {
		return fmt.Errorf("etcd is full (NOSPACE alarm): what is registered lives on, but nothing new can be written; "+
			"compact and defragment etcd, then disarm the alarm: %w", err)
	}
	return err
}
