// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.opentelemetry.io/otel/trace"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/examples/internal/cluster"
	"github.com/fairway-rpc/fairway/examples/internal/load"
)

const service = "echo"

// weights are those of the providers.
var weights = []int{5, 3, 2}

// drainDelay is how long a provider that leaves goes on serving. The consumer
// here knows within milliseconds.
const drainDelay = 300 * time.Millisecond

// startTimeout is how long it may take until every provider is known, and then
// until every provider has been called.
const startTimeout = 30 * time.Second

// session is all that runs.
type session struct {
	cfg  Config
	out  *console
	logs *logFile

	etcd      *cluster.Etcd
	dialled   *clientv3.Client
	resolver  *discovery.Resolver
	registry  *discovery.Registry
	providers []*cluster.Provider
	counts    load.Counts
	actions   sync.WaitGroup // what was asked for by keys and is under way

	// ends are what stop does, last first.
	ends []func() error
}

// start starts everything, the load last. What has been started has to be
// stopped in the case of an error, too.
func (s *session) start(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		s.startEtcd, s.dial, s.startProviders, s.awaitProviders, s.startLoad,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) startEtcd(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "fairway-demo-*")
	if err != nil {
		return fmt.Errorf("folder for etcd: %w", err)
	}
	s.ends = append(s.ends, func() error { return os.RemoveAll(dir) })
	s.out.say("Starting etcd ...")
	s.etcd = cluster.NewEtcd(filepath.Join(dir, "etcd"), s.logs)
	s.ends = append(s.ends, func() error {
		s.etcd.Stop()
		return nil
	})
	if err := s.etcd.Start(ctx); err != nil {
		return err
	}
	s.out.say("etcd serves at %s.", s.etcd.Endpoint())
	return nil
}

// dial makes what both sides have: here one etcd client for both.
func (s *session) dial(context.Context) (err error) {
	log := s.logs.logger()
	s.dialled, err = discovery.Dial(discovery.EtcdConfig{Endpoints: []string{s.etcd.Endpoint()}, Logger: log})
	if err != nil {
		return err
	}
	s.ends = append(s.ends, s.dialled.Close)
	s.registry, err = discovery.NewRegistry(s.dialled, discovery.WithDrainDelay(drainDelay), discovery.WithLogger(log))
	if err != nil {
		return err
	}
	s.ends = append(s.ends, s.registry.Close)
	// The demo's etcd begins empty each time, so that a disk copy is no use.
	s.resolver, err = discovery.NewResolver(s.dialled, discovery.WithoutSnapshotDir(), discovery.WithLogger(log))
	if err != nil {
		return err
	}
	s.ends = append(s.ends, s.resolver.Close)
	return nil
}

func (s *session) startProviders(context.Context) error {
	s.out.say("Starting providers; Kitex registers a server one second after its start ...")
	s.ends = append(s.ends, s.stopProviders)
	for _, weight := range weights {
		p, err := cluster.NewProvider(s.registry, service, weight)
		if err != nil {
			return err
		}
		s.providers = append(s.providers, p)
	}
	return nil
}

// stopProviders stops all at once, since each waits for its drain delay.
func (s *session) stopProviders() error {
	errs := make([]error, len(s.providers))
	var all sync.WaitGroup
	for i, p := range s.providers {
		all.Go(func() {
			if err := p.Stop(); !errors.Is(err, cluster.ErrBusy) { // stopped before
				errs[i] = err
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// awaitProviders returns when the consumer's resolver lists every provider.
func (s *session) awaitProviders(ctx context.Context) error {
	listed := make(chan int, 1)
	unsubscribe := s.resolver.Subscribe(service, func(snapshot *discovery.Snapshot) {
		if len(snapshot.Instances) == len(weights) {
			select {
			case listed <- len(snapshot.Instances):
			default:
			}
		}
	})
	defer unsubscribe()
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, errors.New("the providers have not registered in time"))
	defer cancel()
	select {
	case <-listed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *session) startLoad(ctx context.Context) error {
	var provider trace.TracerProvider
	if s.cfg.Spans.On {
		p := newTracerProvider(s.cfg.Spans, s.out)
		s.ends = append(s.ends, func() error { return p.Shutdown(context.WithoutCancel(ctx)) })
		provider = p
	}
	cli, err := newClient(s.resolver, s.cfg.Policy, provider)
	if err != nil {
		return err
	}
	s.out.say("Calling them by %s, %d times a second ...", s.cfg.Policy, s.cfg.QPS)
	generator := newLoad(s.cfg, cli, &s.counts)
	// The load ends when it is its turn, not with ctx.
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		generator.Run(running)
	}()
	s.ends = append(s.ends, func() error {
		stop()
		<-ended
		return nil
	})
	return nil
}

// awaitCalls returns when every provider has been called.
func (s *session) awaitCalls(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, errors.New("not every provider has been called in time"))
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		tally := s.counts.Read()
		if !slices.ContainsFunc(s.providers, func(p *cluster.Provider) bool { return tally.Instances[p.Address].Calls == 0 }) {
			return nil
		}
	}
}

// stopLoad ends the load before everything else ends, so that the last tally is
// whole.
func (s *session) stopLoad() error {
	last := len(s.ends) - 1
	end := s.ends[last]
	s.ends = s.ends[:last]
	return end()
}

// stop ends everything that runs, in order.
func (s *session) stop() error {
	s.actions.Wait()
	var errs []error
	for _, end := range slices.Backward(s.ends) {
		errs = append(errs, end())
	}
	return errors.Join(errs...)
}
