// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fairway-rpc/fairway/internal/live"
	"github.com/fairway-rpc/fairway/internal/logging"
)

const (
	// requestTimeout bounds each single request to etcd, whose client would
	// otherwise wait for a connection for ever.
	requestTimeout = 3 * time.Second
	// brokenAfter and silentAfter are when a feed is called stale: its watch
	// has ended that long ago, or nothing has proved it alive that long.
	brokenAfter = 5 * time.Second
	silentAfter = 15 * time.Second
	// verifyEvery is how often the entries are compared with etcd.
	verifyEvery = 30 * time.Second
)

var (
	errWatchEnded  = errors.New("watch ended without an error")
	errWatchSilent = errors.New("watch says nothing although etcd can be reached")
	errDiverged    = errors.New("etcd holds something else than was watched")
)

// feed follows one service: it lists, watches from the next revision on, and
// begins again at the list whenever the watch ends for any reason. One
// goroutine runs it; everything below mu is shared with readers and the
// resolver's clock.
type feed struct {
	service string
	prefix  string
	cli     *clientv3.Client
	cfg     *resolverConfig
	disk    *diskRead
	save    func(*feed)

	view      *live.View
	published atomic.Pointer[published]
	ready     chan struct{} // closed once there is something to answer with
	// answerable closes ready; it may be called again and again.
	answerable func()
	patience   chan struct{} // closed when the first wait is over
	subs       subscribers

	stop context.CancelFunc
	done chan struct{}

	mu      sync.Mutex
	pos     position
	entries entries
	state   FeedState
	source  Source
	known   bool // an instance was seen since the feed began, or a disk copy found
	proved  time.Time
	broken  time.Time // zero while the watch runs
	lastErr error
	saved   time.Time // the proof that the disk copy has, or will have
	lines   []func()  // log lines to write once mu is free

	lastUsed atomic.Int64    // Unix nanoseconds
	skipped  logging.Limiter // one line a day for each unreadable key
	noise    logging.Limiter // what repeats through an outage
}

// position is up to where the feed knows etcd's history.
type position struct {
	revision int64
	cluster  uint64
	term     uint64
}

func newFeed(service string, r *Resolver) *feed {
	f := &feed{
		service:  service,
		prefix:   r.cfg.keys.service(service),
		cli:      r.cli,
		cfg:      r.cfg,
		disk:     newDiskRead(r.disk, service),
		save:     r.saver.schedule,
		view:     &live.View{},
		ready:    make(chan struct{}),
		patience: make(chan struct{}),
		done:     make(chan struct{}),
		state:    FeedStarting,
		source:   SourceEtcd,
		broken:   time.Now(),
		skipped:  logging.Limiter{Interval: 24 * time.Hour},
	}
	f.answerable = sync.OnceFunc(func() { close(f.ready) })
	f.touch()
	return f
}

// run follows the service until ctx ends.
func (f *feed) run(ctx context.Context) {
	defer close(f.done)
	patience := time.AfterFunc(f.cfg.resolveTimeout, func() { close(f.patience) })
	defer patience.Stop()
	retry := &backoff{base: 100 * time.Millisecond, ceiling: 5 * time.Second}
	for ctx.Err() == nil {
		err := f.follow(ctx, retry)
		if ctx.Err() != nil {
			return
		}
		f.interrupted(err)
		pause(ctx, retry.next(), nil)
	}
}

// follow lists and watches once; it returns why the watch ended.
func (f *feed) follow(ctx context.Context, retry *backoff) error {
	pos, list, err := f.list(ctx)
	if err != nil {
		return fmt.Errorf("list: %w", err)
	}
	f.adopt(pos, list)
	return f.watch(ctx, pos.revision, retry)
}

// interrupted notes that the watch or list failed; the last known instances
// stay, or those on disk take their place if there has been no list yet.
func (f *feed) interrupted(err error) {
	f.mu.Lock()
	if f.broken.IsZero() {
		f.broken = time.Now()
	}
	f.lastErr = err
	f.mu.Unlock()
	f.useDisk()
	f.answerable()
	level := f.cfg.log.Info
	if errors.Is(err, errDiverged) {
		level = f.cfg.log.Warn
	}
	if held, ok := f.noise.Allow("interrupted"); ok {
		level("service feed interrupted; listing again", "service", f.service, "error", err, "repeated", held)
	}
}

// unlock frees mu and then writes the log lines that came up under it: a slow
// log must not hold up readers.
func (f *feed) unlock() {
	lines := f.lines
	f.lines = nil
	f.mu.Unlock()
	for _, line := range lines {
		line()
	}
}

// later has a line logged once mu is free. Callers hold mu.
func (f *feed) later(line func()) { f.lines = append(f.lines, line) }

// tick is called by the resolver's clock to notice what no event tells.
func (f *feed) tick(now time.Time) {
	f.mu.Lock()
	defer f.unlock()
	if f.state != FeedLive {
		return
	}
	if f.proved.Sub(f.saved) > f.cfg.saveEvery() {
		f.save(f) // the same instances with a later proof: the copy must not seem old
	}
	broken := !f.broken.IsZero() && now.Sub(f.broken) >= brokenAfter
	if silent := now.Sub(f.proved) >= silentAfter; broken || silent {
		f.state = FeedStale
		f.publish()
		n, revision, err := len(f.published.Load().snapshot.Instances), f.pos.revision, f.lastErr
		f.later(func() {
			f.cfg.log.Warn("service feed stale; serving the last known instances", "service", f.service,
				"instances", n, "revision", revision, "error", err)
		})
	}
}

// prove notes that etcd has shown the entries to be current at t. Callers hold
// mu.
func (f *feed) prove(t time.Time) {
	f.proved = t
	f.view.Prove(t)
}

// watched notes that the watch delivers: only that makes a feed live again.
// Callers hold mu.
func (f *feed) watched() {
	f.prove(time.Now())
	f.broken = time.Time{}
	f.become(FeedLive)
}

// become changes the state. Callers hold mu.
func (f *feed) become(state FeedState) {
	if f.state == state {
		return
	}
	was, n, revision := f.state, len(f.entries), f.pos.revision
	f.state = state
	f.later(func() {
		f.cfg.log.Info("service feed "+state.String(), "service", f.service, "was", was, "keys", n, "revision", revision)
	})
}
