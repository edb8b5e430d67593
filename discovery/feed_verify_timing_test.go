// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// standIn answers as an etcd without keys does, or fails, after a delay; its
// watches say nothing but that they are there.
type standIn struct {
	clientv3.KV
	clientv3.Watcher

	delay  time.Duration
	broken atomic.Bool
	silent bool
	reads  atomic.Int64
	told   chan clientv3.WatchResponse
}

func (s *standIn) header() *etcdserverpb.ResponseHeader {
	return &etcdserverpb.ResponseHeader{Revision: 7, ClusterId: 1, RaftTerm: 2}
}

func (s *standIn) Get(ctx context.Context, _ string, _ ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	s.reads.Add(1)
	pause(ctx, s.delay, nil)
	if s.broken.Load() {
		return nil, errors.New("no")
	}
	return &clientv3.GetResponse{Header: s.header()}, ctx.Err()
}

func (s *standIn) Watch(ctx context.Context, _ string, _ ...clientv3.OpOption) clientv3.WatchChan {
	c := make(chan clientv3.WatchResponse, 1)
	c <- clientv3.WatchResponse{Header: s.header(), Created: true}
	go func() {
		defer close(c)
		for {
			select {
			case <-ctx.Done():
				return
			case resp := <-s.told:
				select {
				case c <- resp:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return c
}

// RequestProgress has the watch say that it has told everything.
func (s *standIn) RequestProgress(context.Context) error {
	for range 2 { // instances and rules
		if !s.silent {
			s.told <- clientv3.WatchResponse{Header: s.header()}
		}
	}
	return nil
}

// feedOn is a feed that watches, in fake time.
func feedOn(t *testing.T, s *standIn) *feed {
	t.Helper()
	s.told = make(chan clientv3.WatchResponse, 2)
	cli := clientv3.NewCtxClient(t.Context())
	cli.KV, cli.Watcher = s, s
	r := testResolver(t, cli, WithoutSnapshotDir(), WithResolveTimeout(time.Hour))
	_, _ = r.Resolve(t.Context(), "echo")
	synctest.Wait()
	s.reads.Store(0)
	return r.feeds["echo"]
}

// TestReconnectDuringAComparisonIsNotLost: the comparison has begun with the
// etcd before, so that the one which is there now has to be compared too.
func TestReconnectDuringAComparisonIsNotLost(t *testing.T) {
	for name, fails := range map[string]bool{"that succeeds": false, "that fails": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &standIn{delay: 2 * time.Second}
				f := feedOn(t, s)
				s.broken.Store(fails)
				f.reconnected()
				pause(t.Context(), reconnectSpread+reconnectSpread/4, nil)
				if s.reads.Load() != 1 {
					t.Fatalf("%d reads, want that the comparison is under way", s.reads.Load())
				}
				f.reconnected()
				pause(t.Context(), 2*s.delay+reconnectSpread, nil) // of both spans
				if n := s.reads.Load(); n < 2 || n < 3 && !fails {
					t.Errorf("%d reads; the second comparison has not begun", n)
				}
			})
		})
	}
}

// TestSilentWatchAndReadsThatFailAreNoBusyLoop: neither can be helped at once.
func TestSilentWatchAndReadsThatFailAreNoBusyLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &standIn{delay: time.Millisecond, silent: true}
		feedOn(t, s)
		s.broken.Store(true)
		pause(t.Context(), time.Minute, nil)
		if n := s.reads.Load(); n < 5 || n > 20 {
			t.Errorf("%d reads in a minute, want one every five seconds or so", n)
		}
	})
}
