// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
)

const readyPoll = 10 * time.Millisecond

var (
	errExited   = errors.New("the process ended by itself")
	errNotReady = errors.New("no linearizable read succeeded")
)

// await returns when the process that was launched is ready.
func (s *Server) await(ctx context.Context) error {
	ours := func() bool { return s.servesSince(s.logged) }
	return waitReady(ctx, s.config(s.client), s.proc.done, ours)
}

// quickReconnect replaces gRPC's first backoff of one second, which would be
// added to the time of every start and restart.
func quickReconnect() []grpc.DialOption {
	return []grpc.DialOption{grpc.WithConnectParams(grpc.ConnectParams{
		Backoff:           backoff.Config{BaseDelay: readyPoll, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 10 * readyPoll},
		MinConnectTimeout: time.Second,
	})}
}

// waitReady returns when a linearizable read through cfg succeeds and ours says
// that the answer came from our process and not from a stranger on a port that
// was taken. It returns an error when exited is closed or ctx ends first.
func waitReady(ctx context.Context, cfg clientv3.Config, exited <-chan struct{}, ours func() bool) error {
	cli, err := newClient(cfg)
	if err != nil {
		return fmt.Errorf("create a client: %w", err)
	}
	defer func() { _ = cli.Close() }()

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-exited:
			cancel(errExited)
		case <-ctx.Done():
		}
	}()
	return readUntilDone(ctx, cli, ours)
}

func readUntilDone(ctx context.Context, cli *clientv3.Client, ours func() bool) error {
	tick := time.NewTicker(readyPoll)
	defer tick.Stop()
	for {
		_, err := cli.Get(ctx, "etcdtest/ready")
		if answered(err) && ours() {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(errNotReady, context.Cause(ctx), err)
		case <-tick.C:
		}
	}
}

// answered reports whether etcd came to an answer. One in which a test turned
// authentication on refuses a client without a user, but only after it has
// agreed on the revision to read.
func answered(err error) bool {
	return err == nil || errors.Is(err, rpctypes.ErrUserEmpty)
}
