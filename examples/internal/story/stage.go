// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/examples/internal/cluster"
	"github.com/fairway-rpc/fairway/examples/internal/load"
)

const (
	// ttl is half the default, to save time where a lease has to run out.
	ttl = 5 * time.Second
	// drainDelay is how long a provider that leaves goes on serving. The consumer
	// here knows within milliseconds.
	drainDelay = 300 * time.Millisecond
	qps        = 400
	callers    = 32
)

// stage is all that runs. Its methods belong to one goroutine.
type stage struct {
	cfg Config
	dir string

	etcd      *cluster.Etcd
	gate      gate             // between the providers of this process and etcd
	admin     *clientv3.Client // looks into etcd, as etcdctl does
	providers []*provider
	consumer  *consumer

	phases *load.Phases
	turns  []*load.Phase // of the present step; the last is the present phase
	killed loss          // in the present step
	causes []string      // errors of failed calls, a few for each step
	hush   func()        // ends the calls, nil if there are none

	// ends are what stop does, last first.
	ends []func() error
}

// start starts everything, the calls last. What has been started has to be
// stopped in the case of an error, too.
func (s *stage) start(ctx context.Context) error {
	for _, start := range []func(context.Context) error{s.openEtcd, s.openProviders, s.openConsumer} {
		if err := start(ctx); err != nil {
			return err
		}
	}
	s.phases = load.NewPhases()
	s.turns = []*load.Phase{s.phases.Now()}
	s.ends = append(s.ends, func() error {
		s.stopCalls()
		return nil
	})
	s.startCalls(ctx)
	return nil
}

func (s *stage) openEtcd(ctx context.Context) (err error) {
	s.dir, err = os.MkdirTemp("", "fairway-story-*")
	if err != nil {
		return fmt.Errorf("folder for etcd and the disk copy: %w", err)
	}
	s.ends = append(s.ends, func() error { return os.RemoveAll(s.dir) })
	s.etcd = cluster.NewEtcd(filepath.Join(s.dir, "etcd"), s.cfg.Log)
	s.ends = append(s.ends, func() error {
		s.etcd.Stop()
		return nil
	})
	if err := s.etcd.Start(ctx); err != nil {
		return err
	}
	s.admin, err = discovery.Dial(discovery.EtcdConfig{Endpoints: []string{s.etcd.Endpoint()}, Logger: s.log()})
	if err != nil {
		return err
	}
	s.ends = append(s.ends, s.admin.Close)
	return nil
}

// openProviders starts the last as a process of its own.
func (s *stage) openProviders(ctx context.Context) error {
	s.ends = append(s.ends, s.stopProviders)
	last := len(weights) - 1
	for _, weight := range weights[:last] {
		if _, err := s.newProvider(weight); err != nil {
			return err
		}
	}
	return s.newProcess(ctx, weights[last])
}

// stopProviders stops all at once, since each waits for its drain delay.
func (s *stage) stopProviders() error {
	errs := make([]error, len(s.providers))
	var all sync.WaitGroup
	for i, p := range s.providers {
		all.Go(func() { errs[i] = p.stop() })
	}
	all.Wait()
	return errors.Join(errs...)
}

// openConsumer returns when the consumer knows every provider.
func (s *stage) openConsumer(ctx context.Context) error {
	if err := s.startConsumer(); err != nil {
		return err
	}
	s.ends = append(s.ends, func() error { return s.consumer.close() })
	sight := s.consumer.lookOut(func(snapshot *discovery.Snapshot) bool { return len(snapshot.Instances) == len(weights) })
	defer sight.end()
	_, err := sight.await(ctx, "the consumer knows every provider")
	return err
}

func (s *stage) startConsumer() (err error) {
	s.consumer, err = newConsumer(s.etcd.Endpoint(), filepath.Join(s.dir, "consumer"), s.log())
	return err
}

// startCalls has the consumer call until stopCalls: the calls end when it is
// their turn, not with ctx.
func (s *stage) startCalls(ctx context.Context) {
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	c := s.consumer
	generator := load.Generator{QPS: qps, Callers: callers, Call: func(ctx context.Context) { s.phases.Do(ctx, c.call) }}
	var calling sync.WaitGroup
	calling.Go(func() { generator.Run(running) })
	s.hush = func() {
		stop()
		calling.Wait()
	}
}

func (s *stage) stopCalls() {
	if s.hush != nil {
		s.hush()
		s.hush = nil
	}
}

// stop ends everything that runs, in order.
func (s *stage) stop() error {
	var errs []error
	for _, end := range slices.Backward(s.ends) {
		errs = append(errs, end())
	}
	return errors.Join(errs...)
}

func (s *stage) log() *slog.Logger { return slog.New(slog.NewTextHandler(s.cfg.Log, nil)) }
