// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/endpoint"
	"github.com/cloudwego/kitex/pkg/kerrors"
	registryetcd "github.com/kitex-contrib/registry-etcd"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice"
	"github.com/fairway-rpc/fairway/loadbalance"
	"github.com/fairway-rpc/fairway/middleware"
)

const (
	callers     = 8
	callDelay   = 20 // milliseconds in the handler, so that calls are under way at any time
	reportEvery = 50 * time.Millisecond
)

// tally is what a consumer has seen so far.
type tally struct {
	Calls  int64
	Failed int64
	// Unconnected counts attempts that got no connection, which Kitex makes
	// again elsewhere without the caller's notice.
	Unconnected int64
	Answers     map[string]int64 // by instance
	Error       string           // the last one
}

// counter makes a tally of concurrent calls.
type counter struct {
	mu sync.Mutex
	tally
}

func (c *counter) call(response *echo.Response, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Calls++
	if err != nil {
		c.Failed++
		c.Error = err.Error()
		return
	}
	c.Answers[response.Instance]++
}

// attempts is a middleware around each attempt.
func (c *counter) attempts(next endpoint.Endpoint) endpoint.Endpoint {
	return func(ctx context.Context, request, response any) error {
		err := next(ctx, request, response)
		if errors.Is(err, kerrors.ErrGetConnection) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.Unconnected++
		}
		return err
	}
}

func (c *counter) report() error {
	c.mu.Lock()
	now := c.tally
	now.Answers = maps.Clone(c.Answers)
	c.mu.Unlock()
	return emit(now)
}

// consume calls the service without pause and reports now and then.
func (m member) consume() error {
	resolving, err := m.resolving()
	if err != nil {
		return err
	}
	counts := &counter{tally: tally{Answers: map[string]int64{}}}
	cli, err := echoservice.NewClient(service, append(resolving,
		client.WithInstanceMW(counts.attempts),
		// Kitex's default of 50 ms is short for a busy machine.
		client.WithConnectTimeout(time.Second),
		client.WithRPCTimeout(10*time.Second))...)
	if err != nil {
		return err
	}
	stop := stopped()
	var calling sync.WaitGroup
	for range callers {
		calling.Go(func() {
			for !closed(stop) {
				counts.call(cli.Echo(context.Background(), &echo.Request{DelayMs: callDelay}))
			}
		})
	}
	ticker := time.NewTicker(reportEvery)
	defer ticker.Stop()
	for !closed(stop) {
		if err := counts.report(); err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-stop:
		}
	}
	calling.Wait()
	return counts.report()
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// resolving is what docs/migration.md changes in a consumer.
func (m member) resolving() ([]client.Option, error) {
	if m.Library == registryEtcd {
		res, err := registryetcd.NewEtcdResolver([]string{m.Etcd})
		return []client.Option{client.WithResolver(res)}, err
	}
	cli, err := discovery.Dial(discovery.EtcdConfig{Endpoints: []string{m.Etcd}})
	if err != nil {
		return nil, err
	}
	res, err := discovery.NewResolver(cli, discovery.WithPrefix(prefix), discovery.WithoutSnapshotDir())
	if err != nil {
		return nil, err
	}
	lb, err := loadbalance.New(loadbalance.SmoothWRR)
	if err != nil {
		return nil, err
	}
	return []client.Option{client.WithSuite(middleware.NewClientSuite(res, lb))}, nil
}
