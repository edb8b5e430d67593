// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
)

func TestCompactEndsOldWatches(t *testing.T) {
	t.Parallel()
	srv := Start(t)
	cli := srv.Client(t)
	for range 3 {
		put(t, cli)
	}
	head := srv.Compact()
	if again := srv.Compact(); again != head {
		t.Errorf("compacted at %d, then at %d without a write", head, again)
	}
	resp := <-cli.Watch(t.Context(), key, clientv3.WithRev(head-1))
	if resp.CompactRevision != head {
		t.Errorf("a watch from revision %d got %+v, want that history begins at %d", head-1, resp, head)
	}
	if got := get(t, cli); got != "v" {
		t.Errorf("value after Compact = %q, want v", got)
	}
}

func TestRestoreGoesBackInTime(t *testing.T) {
	t.Parallel()
	srv := Start(t)
	cli := srv.Client(t)
	put(t, cli)
	snapshot := srv.Snapshot()
	saved := header(t, cli)
	put(t, cli)
	endpoint := srv.Endpoint()

	srv.Restore(snapshot)
	restored := header(t, cli)
	if srv.Endpoint() != endpoint {
		t.Errorf("endpoint after Restore = %s, want %s", srv.Endpoint(), endpoint)
	}
	if restored.revision != saved.revision || restored.cluster != saved.cluster {
		t.Errorf("after Restore: %+v, want %+v again", restored, saved)
	}
	if got := get(t, cli); got != "v" {
		t.Errorf("value after Restore = %q, want v", got)
	}
	srv.Restart()
	put(t, cli) // it is an etcd as any other
}

func TestRestoreAsOtherCluster(t *testing.T) {
	t.Parallel()
	srv := Start(t)
	cli := srv.Client(t)
	put(t, cli)
	snapshot := srv.Snapshot()
	seen := map[uint64]bool{header(t, cli).cluster: true}
	srv.Kill()
	for range 2 {
		srv.RestoreAsOtherCluster(snapshot)
		seen[header(t, cli).cluster] = true
	}
	if len(seen) != 3 {
		t.Errorf("cluster IDs: %v, want one more with each RestoreAsOtherCluster", seen)
	}
	if got := get(t, cli); got != "v" {
		t.Errorf("value after Restore = %q, want v", got)
	}
}

func TestRestoreOfNoSnapshotSaysWhy(t *testing.T) {
	t.Parallel()
	r := &recorder{TB: t}
	srv := New(r)
	inGoroutine(func() { srv.Restore("no-such-file") })
	if text := r.text.String(); !r.failed || !strings.Contains(text, "no-such-file") {
		t.Errorf("failure = %q, want the reason", text)
	}
}

type position struct {
	cluster  uint64
	revision int64
}

func header(t *testing.T, cli *clientv3.Client) position {
	t.Helper()
	resp, err := cli.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return position{cluster: resp.Header.ClusterId, revision: resp.Header.Revision}
}
