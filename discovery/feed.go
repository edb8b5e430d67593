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
	// brokenAfter and silentAfter are when a feed is called stale: its watch or
	// the connection has ended that long ago, or nothing has proved it alive
	// that long.
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

const (
	// relistBase and relistCeiling bound the waits before listing again: a
	// thousand consumers that lost their watches together must not list together.
	relistBase    = 500 * time.Millisecond
	relistCeiling = 5 * time.Second
)

// feed follows one service: it lists its instances and rules at one revision,
// watches both from there, and begins again at the list whenever a watch ends
// for any reason. One goroutine runs it; everything below mu is shared with
// readers, the resolver's clock and the guard's probes.
type feed struct {
	service  string
	cli      *clientv3.Client
	cfg      *resolverConfig
	resolver *Resolver
	disk     *diskRead

	view      *live.View
	published atomic.Pointer[published]
	ready     chan struct{} // closed once there is something to answer with
	// answerable closes ready; it may be called again and again.
	answerable func()
	patience   chan struct{} // closed when the first wait is over
	recheck    chan struct{} // has a value when the connection is there again
	subs       subscribers

	stop context.CancelFunc
	done chan struct{}

	mu        sync.Mutex
	instances span
	rules     span
	ruleSet   ruleSet
	guard     *custody
	listed    bool // once at least
	followed  bool // a list of the registry's was published: who appears now is new
	ages      ages
	ended     bool // nothing changes any more
	state     FeedState
	source    Source
	known     bool // an instance was seen since the feed began, or a disk copy found
	proved    time.Time
	broken    time.Time // zero while the watch runs
	lastErr   error
	relists   map[string]int64 // by cause
	saved     time.Time        // the proof that the disk copy has, or will have
	dirty     bool             // something else than the proof is not there yet
	lines     []func()         // log lines to write once mu is free

	lastUsed atomic.Int64    // as of sinceStart
	skipped  logging.Limiter // one line a day for each unreadable key
	noise    logging.Limiter // what repeats through an outage
}

func newFeed(service string, r *Resolver) *feed {
	f := &feed{
		service:  service,
		cli:      r.cli,
		cfg:      r.cfg,
		resolver: r,
		disk:     newDiskRead(r.disk, service),
		view:     &live.View{},
		ready:    make(chan struct{}),
		patience: make(chan struct{}),
		recheck:  make(chan struct{}, 1),
		done:     make(chan struct{}),
		guard:    newCustody(r.cfg.guard),
		relists:  make(map[string]int64),
		ages:     make(ages),
		state:    FeedStarting,
		source:   SourceEtcd,
		broken:   time.Now(),
		skipped:  logging.Limiter{Interval: 24 * time.Hour},
	}
	f.instances = span{prefix: r.cfg.keys.service(service), decode: f.decodeInstance}
	f.rules = span{prefix: r.cfg.keys.rules(service), decode: f.decodeRule}
	f.answerable = sync.OnceFunc(func() { close(f.ready) })
	f.touch()
	return f
}

// run follows the service until ctx ends.
func (f *feed) run(ctx context.Context) {
	defer close(f.done)
	patience := time.AfterFunc(f.cfg.resolveTimeout, func() { close(f.patience) })
	defer patience.Stop()
	defer f.rest()
	retry := &backoff{base: relistBase, ceiling: relistCeiling}
	for ctx.Err() == nil {
		err := f.follow(ctx, retry)
		if ctx.Err() != nil {
			return
		}
		f.interrupted(err)
		// A connection that is there again may cut a long wait short, but what
		// it brings back comes to all consumers at once.
		if wait := retry.next(); pause(ctx, wait, f.recheck) {
			pause(ctx, min(wait, f.resolver.spread()), nil)
		}
	}
}

// follow lists and watches once; it returns why the watch ended.
func (f *feed) follow(ctx context.Context, retry *backoff) error {
	l, err := f.list(ctx)
	if err != nil {
		return fmt.Errorf("list: %w", err)
	}
	f.adopt(l)
	return f.watch(ctx, l.revision, retry)
}

// reconnected has the feed compare itself with etcd soon.
func (f *feed) reconnected() { wake(f.recheck) }

// interrupted notes that the watch or list failed; the last known instances
// stay, or those on disk take their place if there has been no list yet.
func (f *feed) interrupted(err error) {
	f.mu.Lock()
	if f.broken.IsZero() {
		f.broken = time.Now()
	}
	f.lastErr = err
	f.relists[causeOf(err)]++
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
	f.dropOverdue(now)
	if f.state != FeedLive {
		return
	}
	if f.proved.Sub(f.saved) > f.cfg.saveEvery() {
		f.save() // the same instances with a later proof: the copy must not seem old
	}
	broken := !f.broken.IsZero() && now.Sub(f.broken) >= brokenAfter || f.resolver.unreachable(now)
	if silent := now.Sub(f.proved) >= silentAfter; broken || silent {
		f.state = FeedStale
		f.publish()
		n, revision, err := len(f.published.Load().snapshot.Instances), f.revision(), f.lastErr
		f.later(func() {
			f.cfg.log.Warn("service feed stale; serving the last known instances", "service", f.service,
				"instances", n, "revision", revision, "error", err)
		})
	}
}

// revision is the latest of etcd's that the feed takes account of. Callers hold
// mu.
func (f *feed) revision() int64 { return max(f.instances.pos.revision, f.rules.pos.revision) }

// save has the present state written to disk soon. Callers hold mu.
func (f *feed) save() {
	f.dirty = true
	f.resolver.saver.schedule(f)
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
	was, n, revision := f.state, len(f.instances.entries), f.revision()
	f.state = state
	f.later(func() {
		f.cfg.log.Info("service feed "+state.String(), "service", f.service, "was", was, "keys", n, "revision", revision)
	})
}
