// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/examples/internal/load"
	"github.com/fairway-rpc/fairway/examples/internal/share"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice"
)

const (
	// callers is the highest number of calls at a time.
	callers = 16
	// keys is how many different messages are sent.
	keys = 10_000
	// awaitEvery is how often it is asked for the first instance.
	awaitEvery = 100 * time.Millisecond
)

// makeCalls makes calls, once an instance is known, until ctx ends, and logs their
// distribution. A call that failed is an error.
func makeCalls(ctx context.Context, cfg config, resolver *discovery.Resolver, cli echoservice.Client, counts *load.Counts) error {
	if !awaitInstance(ctx, cfg.service, resolver) {
		return nil
	}
	generator := load.Generator{QPS: cfg.qps, Callers: callers, Call: func(ctx context.Context) {
		counts.Do(ctx, func(ctx context.Context) error {
			_, err := cli.Echo(ctx, &echo.Request{Message: fmt.Sprintf("key-%d", rand.IntN(keys))})
			return err
		})
	}}
	var running sync.WaitGroup
	running.Go(func() { generator.Run(ctx) })
	logEvery(ctx, cfg, resolver, counts)
	running.Wait()
	total := counts.Read()
	slog.Info("totals", "policy", cfg.policy, "calls", total.Calls, "failed", total.Failed)
	if total.Failed > 0 {
		return fmt.Errorf("%d of %d calls failed: %q", total.Failed, total.Calls, total.Errors)
	}
	return nil
}

// awaitInstance waits until the service has an instance, from etcd or from the
// disk copy, so that a consumer may start before the first provider. It reports
// false if ctx ends before.
func awaitInstance(ctx context.Context, service string, resolver *discovery.Resolver) bool {
	slog.Info("waiting for the first instance", "service", service)
	tick := time.NewTicker(awaitEvery)
	defer tick.Stop()
	for {
		known, err := resolver.Resolve(ctx, service)
		if err == nil && slices.ContainsFunc(known.Instances, func(i kdiscovery.Instance) bool { return i.Weight() > 0 }) {
			return true
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
}

func logEvery(ctx context.Context, cfg config, resolver *discovery.Resolver, counts *load.Counts) {
	tick := time.NewTicker(cfg.every)
	defer tick.Stop()
	var before load.Tally
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := counts.Read()
		logDistribution(cfg, resolver, now, now.Since(before))
		before = now
	}
}

// logDistribution logs the calls of one interval, and in all.
func logDistribution(cfg config, resolver *discovery.Resolver, all, part load.Tally) {
	snapshot, ok := resolver.Snapshot(cfg.service)
	if !ok {
		return
	}
	slog.Info("distribution", "policy", cfg.policy,
		"calls", part.Calls, "failed", part.Failed, "total_calls", all.Calls, "total_failed", all.Failed,
		"state", snapshot.State, "source", snapshot.Source,
		"age", time.Since(snapshot.ProvedAt).Round(100*time.Millisecond))
	for _, row := range share.Of(snapshot.Instances, part) {
		slog.Info("instance", "address", row.Address, "weight", row.Weight, "calls", row.Calls,
			"share", fmt.Sprintf("%.3f", row.Actual), "expected", fmt.Sprintf("%.3f", row.Expected))
	}
	if part.Failed > 0 {
		slog.Warn("calls have failed", "errors", all.Errors)
	}
}
