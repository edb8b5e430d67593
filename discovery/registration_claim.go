// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// claim makes the key hold the desired record under the lease. It writes
// nothing if it already does, and leaves the key to a provider at the same
// address that started later.
func (g *registration) claim(ctx context.Context, lease clientv3.LeaseID) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	resp, err := g.cli.Get(ctx, g.key)
	if err != nil {
		return fmt.Errorf("read own key: %w", err)
	}
	desired := g.wanted()
	value, err := desired.encode()
	if err != nil {
		return err
	}
	revision := int64(0)
	if len(resp.Kvs) > 0 {
		found := resp.Kvs[0]
		if found.Lease == int64(lease) && bytes.Equal(found.Value, value) {
			return nil
		}
		if supersedes(found, desired) {
			return fmt.Errorf("%w: key %s", errConflict, g.key)
		}
		revision = found.ModRevision
	}
	return g.put(ctx, lease, string(value), revision)
}

func (g *registration) wanted() *record {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.desired
}

// supersedes reports whether the key belongs to another live process that
// started later than ours; of two that started together, one gives way. A key
// without a lease belongs to nobody, and a record without these fields is
// registry-etcd's, over which ours wins.
func supersedes(found *mvccpb.KeyValue, ours *record) bool {
	other, err := decodeRecord(found.Value)
	if err != nil || found.Lease == 0 || other.Instance == "" || other.Instance == ours.Instance || other.State == StateLeaving {
		return false
	}
	return other.StartedAt.After(ours.StartedAt) ||
		other.StartedAt.Equal(ours.StartedAt) && other.Instance > ours.Instance
}

// put writes the key if nobody has changed it since it was read.
func (g *registration) put(ctx context.Context, lease clientv3.LeaseID, value string, revision int64) error {
	if lease == clientv3.NoLease {
		return errLeaseLost // a put under no lease would stay for ever
	}
	g.mu.Lock()
	g.tried = true
	g.mu.Unlock()
	resp, err := g.cli.Txn(ctx).
		If(clientv3.Compare(clientv3.ModRevision(g.key), "=", revision)).
		Then(clientv3.OpPut(g.key, value, clientv3.WithLease(lease))).
		Commit()
	if err != nil {
		return fmt.Errorf("write own key: %w", err)
	}
	if !resp.Succeeded {
		return fmt.Errorf("%w: key %s", errKeyLost, g.key)
	}
	return nil
}

func isLeaseNotFound(err error) bool { return errors.Is(err, rpctypes.ErrLeaseNotFound) }
