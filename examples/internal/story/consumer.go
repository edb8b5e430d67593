// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/connpool"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/examples/internal/load"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice"
	"github.com/fairway-rpc/fairway/loadbalance"
	"github.com/fairway-rpc/fairway/middleware"
)

const (
	service = "echo"
	policy  = loadbalance.SmoothWRR
	// rpcTimeout is generous: the machine may have other things to do.
	rpcTimeout     = 5 * time.Second
	connectTimeout = time.Second
	// delayMS is how long a provider takes for a call: long enough that some are
	// in flight when it is killed.
	delayMS = 20
)

// consumer is what a consumer's process has: an etcd client, a resolver with a
// disk copy, and a Kitex client.
type consumer struct {
	dialled  *clientv3.Client
	resolver *discovery.Resolver
	cli      echoservice.Client
}

func newConsumer(endpoint, dir string, log *slog.Logger) (*consumer, error) {
	dialled, err := discovery.Dial(discovery.EtcdConfig{Endpoints: []string{endpoint}, Logger: log})
	if err != nil {
		return nil, err
	}
	c := &consumer{dialled: dialled}
	c.resolver, err = discovery.NewResolver(dialled, discovery.WithSnapshotDir(dir), discovery.WithLogger(log))
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	c.cli, err = c.client()
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

func (c *consumer) client() (echoservice.Client, error) {
	balancer, err := loadbalance.New(policy)
	if err != nil {
		return nil, err
	}
	return echoservice.NewClient(service,
		client.WithRPCTimeout(rpcTimeout),
		client.WithConnectTimeout(connectTimeout),
		client.WithLongConnection(connpool.IdleConfig{MaxIdlePerAddress: callers, MaxIdleGlobal: 10 * callers, MaxIdleTimeout: time.Minute}),
		client.WithInstanceMW(load.Middleware),
		client.WithSuite(middleware.NewClientSuite(c.resolver, balancer, middleware.WithPickSpans(middleware.PickSpansOff))))
}

func (c *consumer) call(ctx context.Context) error {
	_, err := c.cli.Echo(ctx, &echo.Request{Message: "hello", DelayMs: delayMS})
	return err
}

// close ends it. Kitex's client has no end of its own: it goes with the garbage.
func (c *consumer) close() error {
	var errs []error
	if c.resolver != nil {
		errs = append(errs, c.resolver.Close())
	}
	return errors.Join(append(errs, c.dialled.Close())...)
}

// snapshot is the latest; an empty one before the first.
func (c *consumer) snapshot() *discovery.Snapshot {
	if snapshot, ok := c.resolver.Snapshot(service); ok {
		return snapshot
	}
	return &discovery.Snapshot{}
}

func (c *consumer) status() discovery.ServiceStatus {
	for _, s := range c.resolver.Status().Services {
		if s.Service == service {
			return s
		}
	}
	return discovery.ServiceStatus{}
}

// live reports whether etcd says what the consumer knows.
func live(snapshot *discovery.Snapshot) bool {
	return snapshot.State == discovery.FeedLive && snapshot.Source == discovery.SourceEtcd
}

// age is the time since etcd proved the snapshot to be current.
func age(snapshot *discovery.Snapshot) time.Duration { return time.Since(snapshot.ProvedAt) }

func listed(snapshot *discovery.Snapshot, address string) bool { return find(snapshot, address) != nil }

// weightOf is the effective weight, -1 for a provider that is not listed.
func weightOf(snapshot *discovery.Snapshot, address string) int {
	if i := find(snapshot, address); i != nil {
		return i.Weight()
	}
	return -1
}

func find(snapshot *discovery.Snapshot, address string) *discovery.Instance {
	for _, i := range snapshot.Instances {
		if i.Address().String() == address {
			return i
		}
	}
	return nil
}
