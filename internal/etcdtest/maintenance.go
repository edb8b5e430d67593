// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Compact deletes the history before the newest revision, which it returns, and
// waits until that is done: a watch that would begin earlier is refused.
func (s *Server) Compact() int64 {
	s.tb.Helper()
	var head int64
	s.check("compact etcd", s.with(func(ctx context.Context, cli *clientv3.Client) error {
		newest, err := cli.Get(ctx, "etcdtest/newest", clientv3.WithCountOnly())
		if err != nil {
			return err
		}
		head = newest.Header.Revision
		_, err = cli.Compact(ctx, head, clientv3.WithCompactPhysical())
		if errors.Is(err, rpctypes.ErrCompacted) { // nothing was written since
			return nil
		}
		return err
	}))
	return head
}

// Snapshot saves all data into a file of the test's folder and returns its path.
func (s *Server) Snapshot() string {
	s.tb.Helper()
	var path string
	s.check("take a snapshot of etcd", s.with(func(ctx context.Context, cli *clientv3.Client) (err error) {
		path, err = s.save(ctx, cli)
		return err
	}))
	return path
}

// Restore replaces the data by what [Server.Snapshot] saved, from this server or
// another, and returns when etcd is back on the same port, with the cluster ID
// that it had. Revisions go back in time: a careful operator would raise them
// (etcdutl's --bump-revision), this one does not. It fails the test for a member
// of a [Cluster].
func (s *Server) Restore(snapshot string) {
	s.tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.restore(snapshot)
}

// RestoreAsOtherCluster is [Server.Restore] with another cluster ID than the
// server ever had, as if its address now led somewhere else.
func (s *Server) RestoreAsOtherCluster(snapshot string) {
	s.tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token += "+"
	s.restore(snapshot)
}

// restore is Restore under the lock.
func (s *Server) restore(snapshot string) {
	s.tb.Helper()
	s.mustBeAlone("Restore")
	s.check("stop etcd", s.proc.stop(stopTimeout))
	s.check("delete the data of etcd", os.RemoveAll(s.DataDir()))
	s.check("restore the snapshot", s.unpack(snapshot))
	s.check("start etcd from the snapshot", bringUp(s))
}

// unpack makes a data folder from a snapshot.
func (s *Server) unpack(snapshot string) error {
	etcdutl, err := etcdutlBinary(s.tb.Context())
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(s.tb.Context(), etcdutl, "snapshot", "restore", snapshot,
		"--data-dir="+s.DataDir(),
		"--name="+s.name,
		"--initial-cluster="+s.cluster,
		"--initial-cluster-token="+s.token,
		"--initial-advertise-peer-urls="+s.peerURL(),
	)
	cmd.Env = cleanEnv()
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, text)
	}
	return nil
}

// save copies the database into a new file.
func (s *Server) save(ctx context.Context, cli *clientv3.Client) (string, error) {
	file, err := os.CreateTemp(s.dir, "snapshot-*.db")
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // again after success
	data, err := cli.Snapshot(ctx)
	if err != nil {
		return "", err
	}
	defer func() { _ = data.Close() }()
	if _, err := io.Copy(file, data); err != nil {
		return "", err
	}
	return file.Name(), file.Close()
}

// with lends a client of the server to f, for as long as a start may take.
func (s *Server) with(f func(context.Context, *clientv3.Client) error) error {
	ctx, cancel := context.WithTimeout(s.tb.Context(), readyTimeout)
	defer cancel()
	cli, err := newClient(s.config(s.Endpoint()))
	if err != nil {
		return err
	}
	defer func() { _ = cli.Close() }()
	return f(ctx, cli)
}
