// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fairway-rpc/fairway/internal/logging"
)

const (
	// retryBase and retryCeiling bound the waits between attempts.
	retryBase    = 100 * time.Millisecond
	retryCeiling = 2 * time.Second
	// checkEvery is how often the key is compared with what it should be.
	checkEvery = 10 * time.Second
	// endWithin bounds what Deregister does in etcd.
	endWithin = requestTimeout
)

var (
	errLeaseLost = errors.New("lease lost")
	errKeyLost   = errors.New("key deleted or changed by someone else")
	errConflict  = errors.New("a provider that started later holds this address")
)

// registration makes etcd agree with one desired record, for ever: grant a
// lease, claim the key under it, keep the lease alive and the key as it should
// be, and begin again whenever one of them is lost.
type registration struct {
	cli *clientv3.Client
	cfg *registryConfig
	log *slog.Logger
	key string

	stop       context.CancelFunc
	done       chan struct{}
	registered chan struct{} // closed at the first success
	wake       chan struct{}
	noise      logging.Limiter

	mu      sync.Mutex
	desired *record
	lease   clientv3.LeaseID // granted last
	held    clientv3.LeaseID // under which the key was last seen as desired
	tried   bool             // a put was sent: consumers may have seen the key
	lastErr error
}

func newRegistration(cli *clientv3.Client, cfg *registryConfig, service string, desired *record) *registration {
	return &registration{
		cli:        cli,
		cfg:        cfg,
		log:        cfg.log.With("service", service, "address", desired.Address),
		key:        cfg.keys.instance(service, desired.Address),
		done:       make(chan struct{}),
		registered: make(chan struct{}),
		wake:       make(chan struct{}, 1),
		desired:    desired,
	}
}

func (g *registration) start() {
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(context.Background()))
	g.stop = cancel
	go g.run(ctx)
}

// want replaces the desired record, keeping who and since when we are.
func (g *registration) want(desired *record) {
	g.mu.Lock()
	desired.Instance, desired.StartedAt, desired.Address = g.desired.Instance, g.desired.StartedAt, g.desired.Address
	g.desired = desired
	g.mu.Unlock()
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// run holds the key until ctx ends, under a new lease after each lost one.
func (g *registration) run(ctx context.Context) {
	defer close(g.done)
	retry := &backoff{base: retryBase, ceiling: retryCeiling}
	for ctx.Err() == nil {
		err := g.hold(ctx, retry)
		if ctx.Err() != nil {
			return
		}
		g.fail(err)
		pause(ctx, retry.next(), nil)
	}
}

// hold keeps the key as desired under a fresh lease and returns when that is
// lost. It does not revoke a lost lease: the next one takes the key over, and
// a revocation would take the key away in between.
func (g *registration) hold(ctx context.Context, retry *backoff) error {
	lease, err := newLease(ctx, g.cli, g.cfg.ttl)
	if err != nil {
		return err
	}
	defer lease.close()
	g.mu.Lock()
	g.lease = lease.id
	g.mu.Unlock()
	for {
		err := g.claim(ctx, lease.id)
		if ctx.Err() != nil {
			return err
		}
		if isLeaseNotFound(err) {
			return errLeaseLost
		}
		timer := time.NewTimer(g.settle(lease, err, retry))
		select {
		case <-ctx.Done():
		case <-lease.lost:
			err = errLeaseLost
		case <-g.wake:
		case <-timer.C:
		}
		timer.Stop()
		if ctx.Err() != nil || errors.Is(err, errLeaseLost) {
			return err
		}
	}
}

// settle notes how a claim went and tells when to look again. A single failed
// request does not end a registration: the lease decides.
func (g *registration) settle(l *lease, err error, retry *backoff) time.Duration {
	switch {
	case err == nil:
		retry.reset()
		g.succeed(l)
		return jittered(checkEvery)
	case errors.Is(err, errConflict):
		g.fail(err)
		return jittered(checkEvery)
	default:
		g.fail(err)
		return retry.next()
	}
}

func (g *registration) succeed(l *lease) {
	g.mu.Lock()
	news := g.held != l.id || g.lastErr != nil
	g.held, g.lastErr = l.id, nil
	g.mu.Unlock()
	if news {
		g.log.Info("registered", "key", g.key, "lease", l.String(), "ttl", l.ttl)
	}
	select {
	case <-g.registered:
	default:
		close(g.registered)
	}
}

func (g *registration) fail(err error) {
	g.mu.Lock()
	g.lastErr = err
	g.mu.Unlock()
	if held, ok := g.noise.Allow(err.Error()); ok {
		g.log.Warn("not registered; trying again", "error", err, "repeated", held)
	}
}

// failure is the last error, never nil.
func (g *registration) failure() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.lastErr == nil {
		return context.DeadlineExceeded
	}
	return g.lastErr
}
