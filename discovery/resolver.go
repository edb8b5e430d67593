// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"
	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	"github.com/cloudwego/kitex/pkg/rpcinfo"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.opentelemetry.io/otel/metric"
	"google.golang.org/grpc/metadata"

	"github.com/fairway-rpc/fairway/discovery/internal/probe"
	"github.com/fairway-rpc/fairway/internal/fault"
	"github.com/fairway-rpc/fairway/internal/live"
)

var _ kdiscovery.Resolver = (*Resolver)(nil)

// idleAfter is how long a feed outlives its last use.
const idleAfter = 10 * time.Minute

// Resolver follows the services that are used and answers Kitex from memory.
// It implements Kitex's discovery.Resolver.
type Resolver struct {
	cli   *clientv3.Client
	cfg   *resolverConfig
	name  string
	disk  *diskCopy
	saver *saver

	metrics  metric.Registration
	prober   *probe.Prober
	suspects atomic.Int64  // held by all feeds
	back     chan struct{} // has a value when there is a connection again
	down     atomic.Int64  // sinceStart when the connection was lost; 0 while there is one

	ctx    context.Context //nolint:containedctx // the lifetime of the feeds, which start at first use
	cancel context.CancelFunc
	clock  sync.WaitGroup

	mu     sync.Mutex
	feeds  map[string]*feed
	closed bool
}

var resolvers atomic.Int64

// NewResolver makes a resolver on a client that it borrows and never closes.
// It returns at once, whether or not etcd can be reached. Errors wrap
// [ErrInvalidConfig].
func NewResolver(cli *clientv3.Client, opts ...ResolverOption) (*Resolver, error) {
	if err := checkClient("NewResolver", cli, reading); err != nil {
		return nil, err
	}
	cfg, err := newResolverConfig(opts)
	if err != nil {
		return nil, err
	}
	if cfg.cluster == "" {
		cfg.cluster = clusterName(cli.Endpoints())
	}
	n := resolvers.Add(1)
	r := &Resolver{
		cli:   cli,
		cfg:   cfg,
		name:  resolverName(cfg, n),
		disk:  openDisk(cfg),
		feeds: make(map[string]*feed),
		back:  make(chan struct{}, 1),
	}
	r.saver = newSaver(r.disk, cfg.log)
	r.prober = probe.New(cfg.guard.probes())
	if r.metrics, err = observeResolver(r, cfg.meterProvider); err != nil {
		return nil, fault.Invalid("WithMeterProvider", "%w", err)
	}
	r.ctx, r.cancel = context.WithCancel(watchContext(n))
	r.clock.Go(r.tick)
	r.clock.Go(r.askProgress)
	r.clock.Go(r.watchConnection)
	go r.saver.run(r.ctx)
	return r, nil
}

// clusterName tells clusters apart by their endpoints.
func clusterName(endpoints []string) string {
	sorted := slices.Sorted(slices.Values(endpoints))
	return fmt.Sprintf("endpoints-%016x", xxhash.Sum64String(strings.Join(sorted, ",")))
}

// resolverName is unique: Kitex's shared caches are keyed by it.
func resolverName(cfg *resolverConfig, n int64) string {
	return fmt.Sprintf("fairway-%s-%s-%d", cfg.cluster, cfg.keys.prefix, n)
}

// watchContext gives the resolver's watches a stream of their own within the
// client (etcd's client shares streams by metadata), which asks for a leader.
// Names may have characters that metadata must not.
func watchContext(n int64) context.Context {
	ctx := clientv3.WithRequireLeader(context.Background())
	return metadata.AppendToOutgoingContext(ctx, "fairway-resolver", strconv.FormatInt(n, 10))
}

func openDisk(cfg *resolverConfig) *diskCopy {
	if cfg.noSnapshots {
		return nil
	}
	disk, err := newDiskCopy(cfg.snapshotDir, cfg.cluster, cfg.keys.prefix)
	if err != nil {
		cfg.log.Warn("no disk copy: a restart during an outage of etcd would know no instance", "error", err)
		return nil
	}
	return disk
}

// Name implements Kitex's discovery.Resolver. It is unique per Resolver.
func (r *Resolver) Name() string { return r.name }

// String is what Kitex prints of the resolver.
func (r *Resolver) String() string { return r.name }

// Target implements Kitex's discovery.Resolver.
func (r *Resolver) Target(_ context.Context, target rpcinfo.EndpointInfo) string {
	return target.ServiceName()
}

// Resolve implements Kitex's discovery.Resolver: the instances of a service
// that get calls. Only the first calls to a service wait, for its first list
// and for at most [WithResolveTimeout]; all others are answered from memory.
//
// Errors: [ErrRegistryUnavailable], [ErrServiceNotFound], [ErrClosed] for a
// service that was not followed when the resolver was closed, and
// [ErrInvalidConfig] for a bad service name or one service too many.
func (r *Resolver) Resolve(ctx context.Context, service string) (kdiscovery.Result, error) {
	f, err := r.feed(service)
	if err != nil {
		return kdiscovery.Result{}, err
	}
	p := f.published.Load()
	if p == nil {
		p = f.await(ctx)
	}
	if p == nil {
		return kdiscovery.Result{}, f.unavailable()
	}
	if !p.known {
		return kdiscovery.Result{}, fmt.Errorf("%w: %q under prefix %q", ErrServiceNotFound, service, r.cfg.keys.prefix)
	}
	return kdiscovery.Result{Cacheable: true, CacheKey: service, Instances: p.serving()}, nil
}

// await waits for the first publication, and makes do with the disk copy when
// the wait is over.
func (f *feed) await(ctx context.Context) *published {
	select {
	case <-f.ready:
	case <-f.patience:
	case <-ctx.Done():
	case <-f.done:
	}
	f.useDisk()
	return f.published.Load()
}

func (f *feed) unavailable() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lastErr == nil {
		return fmt.Errorf("%w: no answer yet for service %q", ErrRegistryUnavailable, f.service)
	}
	return fmt.Errorf("%w: service %q: %w", ErrRegistryUnavailable, f.service, f.lastErr)
}

// feed returns the feed of a service, starting it at first use.
func (r *Resolver) feed(service string) (*feed, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f := r.feeds[service]; f != nil {
		f.touch()
		return f, nil
	}
	if r.closed {
		return nil, fmt.Errorf("resolver: %w", ErrClosed)
	}
	if err := CheckServiceName(service); err != nil {
		return nil, err
	}
	if len(r.feeds) >= r.cfg.maxServices {
		return nil, fault.Invalid("WithMaxServices", "%d services are followed already; %q would be one too many", len(r.feeds), service)
	}
	f := newFeed(service, r)
	ctx, cancel := context.WithCancel(r.ctx)
	f.stop = cancel
	r.feeds[service] = f
	live.Enter(live.Key(r.name, service), f.view)
	go f.run(ctx)
	return f, nil
}

func (f *feed) touch() { f.lastUsed.Store(sinceStart(time.Now())) }

// Snapshot returns what is known of a service that is followed; it starts no
// feed. It is false while nothing is known.
func (r *Resolver) Snapshot(service string) (*Snapshot, bool) {
	r.mu.Lock()
	f := r.feeds[service]
	r.mu.Unlock()
	if f == nil {
		return nil, false
	}
	s := f.current()
	return s, s != nil
}

// Close ends all feeds, after writing the disk copies that are owed. The last
// snapshots are served on. It may be called more than once.
func (r *Resolver) Close() error {
	r.mu.Lock()
	r.closed = true
	feeds := make([]*feed, 0, len(r.feeds))
	for _, f := range r.feeds {
		feeds = append(feeds, f)
	}
	r.mu.Unlock()
	r.cancel()
	r.clock.Wait()
	<-r.saver.done
	for _, f := range feeds {
		r.end(f)
	}
	r.prober.Close()
	_ = r.metrics.Unregister() // the SDK never fails here
	return nil
}

// end waits for a feed that was told to stop and takes it out of sight.
func (r *Resolver) end(f *feed) {
	f.stop()
	<-f.done
	f.disk.join()
	r.saver.forget(f)
	live.Leave(live.Key(r.name, f.service), f.view)
	f.view.Close()
}
