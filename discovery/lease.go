// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// lease is one lease that is being kept alive.
type lease struct {
	id      clientv3.LeaseID
	ttl     time.Duration
	expires atomic.Pointer[time.Time] // by etcd's last answer
	lost    chan struct{}             // closed when etcd no longer answers for the lease
	lessor  clientv3.Lease
	cancel  context.CancelFunc
	ended   chan struct{}
}

// newLease grants a lease and keeps it alive until it is closed or lost. It
// uses a lessor of its own: a lessor that meets an error it cannot retry is
// dead for good, and the client's may be used by others.
func newLease(ctx context.Context, cli *clientv3.Client, ttl time.Duration) (*lease, error) {
	lessor := clientv3.NewLease(cli)
	l, err := grant(ctx, lessor, ttl)
	if err != nil {
		_ = lessor.Close()
		return nil, err
	}
	return l, nil
}

func grant(ctx context.Context, lessor clientv3.Lease, ttl time.Duration) (*lease, error) {
	grantCtx, cancelGrant := context.WithTimeout(ctx, requestTimeout)
	defer cancelGrant()
	asked := time.Now()
	granted, err := lessor.Grant(grantCtx, int64(wholeSeconds(ttl)/time.Second))
	if err != nil {
		return nil, fmt.Errorf("grant a lease: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	answers, err := lessor.KeepAlive(ctx, granted.ID)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("keep the lease alive: %w", err)
	}
	l := &lease{
		id:     granted.ID,
		ttl:    time.Duration(granted.TTL) * time.Second,
		lost:   make(chan struct{}),
		lessor: lessor,
		cancel: cancel,
		ended:  make(chan struct{}),
	}
	l.answered(asked, granted.TTL)
	go l.drain(answers)
	return l, nil
}

// wholeSeconds rounds up to what etcd counts in.
func wholeSeconds(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}

// drain reads etcd's answers until their channel closes, which is all that
// the client tells of a lease's end.
func (l *lease) drain(answers <-chan *clientv3.LeaseKeepAliveResponse) {
	defer close(l.ended)
	defer close(l.lost)
	for a := range answers {
		l.answered(time.Now(), a.TTL)
	}
}

func (l *lease) answered(at time.Time, seconds int64) {
	expires := at.Add(time.Duration(seconds) * time.Second)
	l.expires.Store(&expires)
}

// left is how long the lease lives without a further answer.
func (l *lease) left() time.Duration { return max(0, time.Until(*l.expires.Load())) }

// close stops keeping the lease alive; it does not revoke it.
func (l *lease) close() {
	l.cancel()
	_ = l.lessor.Close()
	<-l.ended
}

// String is the lease's ID as etcdctl shows it.
func (l *lease) String() string { return strconv.FormatInt(int64(l.id), 16) }
