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
	// endWithin bounds what Deregister does in etcd.
	endWithin = requestTimeout
	// stillEvery is how often a failure that lasts is logged.
	stillEvery = time.Minute
)

var (
	errLeaseLost  = errors.New("lease lost")
	errStoreReset = errors.New("etcd's revision went back: it was wiped or restored")
	errKeyLost    = errors.New("key deleted or changed by someone else")
	errConflict   = errors.New("a provider that started later holds this address")
)

// registration makes etcd agree with one target, for ever: grant a lease,
// claim the key under it, keep the lease alive and the key as it should be,
// and begin again whenever one of them is lost.
type registration struct {
	cli     *clientv3.Client
	cfg     *registryConfig
	log     *slog.Logger
	notify  *notifier
	service string

	stop       context.CancelFunc
	done       chan struct{}
	registered chan struct{} // closed when etcd agrees for the first time
	wake       chan struct{} // look again
	foreign    chan struct{} // the same, since someone else changed the key
	noise      logging.Limiter

	mu sync.Mutex
	progress
	base   *record // what Register was given, and who we are
	target target
	find   addressFinder // nil once the address is certain
	agreed uint64        // the latest version of the target that etcd agreed with
	news   chan struct{} // closed when agreed grows
	tried  bool          // a put was sent: consumers may have seen the key
	sent   []byte        // the value that was put last

	// Of the loop alone, and of halt after its end.
	leases   []clientv3.LeaseID // granted and not known to be gone
	revision int64              // the newest seen
	written  int64              // of the last put under the present lease, or 0
}

func newRegistration(r *Registry, service string, base *record, find addressFinder) *registration {
	return &registration{
		cli:        r.cli,
		cfg:        r.cfg,
		log:        r.cfg.log.With("service", service),
		notify:     r.notify,
		service:    service,
		done:       make(chan struct{}),
		registered: make(chan struct{}),
		wake:       make(chan struct{}, 1),
		foreign:    make(chan struct{}, 1),
		noise:      logging.Limiter{Interval: stillEvery},
		progress:   progress{state: Registering, since: time.Now()},
		base:       base,
		find:       find,
		news:       make(chan struct{}),
	}
}

func (g *registration) start() {
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(context.Background()))
	g.stop = cancel
	go g.run(ctx)
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
		g.enter(Retrying, err)
		pause(ctx, retry.next(), g.wake)
	}
}

// hold keeps etcd in agreement under a fresh lease and returns when that is
// lost. It does not revoke a lost lease: the next one takes the key over, and
// a revocation would take the key away in between.
func (g *registration) hold(ctx context.Context, retry *backoff) error {
	l, err := newLease(ctx, g.cli, g.cfg.ttl)
	if err != nil {
		return explained(err)
	}
	defer l.close()
	g.granted(l)
	g.findAddress(ctx)
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { g.watchKey(ctx, l.id) })
	defer watching.Wait()
	defer cancel()
	for {
		err := g.agree(ctx, l)
		if ctx.Err() != nil || errors.Is(err, errLeaseLost) || errors.Is(err, errStoreReset) {
			return err
		}
		if err := g.sleep(ctx, l, g.settle(err, retry), errors.Is(err, errConflict)); err != nil {
			return err
		}
	}
}

func (g *registration) granted(l *lease) {
	g.leases, g.written = append(g.leases, l.id), 0
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lease = l
}

// settle notes how an attempt went and tells when to look again. A single
// failed request does not end a registration: the lease decides.
func (g *registration) settle(err error, retry *backoff) time.Duration {
	switch {
	case err == nil:
		retry.reset()
		return jittered(g.cfg.timing.check)
	case errors.Is(err, errConflict):
		g.enter(Conflict, err)
		return jittered(g.cfg.timing.check)
	default:
		g.enter(Retrying, err)
		return retry.next()
	}
}

// sleep waits until it is time to look again. In a conflict the key's changes
// are the other provider's, and each is no reason to try again.
func (g *registration) sleep(ctx context.Context, l *lease, d time.Duration, conflict bool) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	foreign := g.foreign
	if conflict {
		foreign = nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-l.lost:
		return errLeaseLost
	case <-foreign:
	case <-g.wake:
	case <-timer.C:
	}
	return nil
}

// look wakes the loop.
func (g *registration) look() { wake(g.wake) }
