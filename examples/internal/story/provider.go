// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/examples/internal/cluster"
)

// provider is one of the providers: a server in this process with an etcd client
// and a registry of its own, or a process, which can be killed.
type provider struct {
	number, weight int
	address        string
	killed         bool

	dialled  *clientv3.Client
	registry *discovery.Registry
	server   *cluster.Provider

	process *cluster.Process
}

// newProvider starts one in this process.
func (s *stage) newProvider(weight int) (*provider, error) {
	p := &provider{number: len(s.providers) + 1, weight: weight}
	s.providers = append(s.providers, p)
	err := p.serve(s.etcd.Endpoint(), &s.gate, s.log())
	return p, err
}

func (p *provider) serve(endpoint string, way *gate, log *slog.Logger) (err error) {
	p.dialled, err = discovery.Dial(discovery.EtcdConfig{
		Endpoints: []string{endpoint}, Logger: log,
		DialOptions: []grpc.DialOption{grpc.WithContextDialer(way.dial)},
	})
	if err != nil {
		return err
	}
	p.registry, err = discovery.NewRegistry(p.dialled, discovery.WithTTL(ttl), discovery.WithDrainDelay(drainDelay),
		discovery.WithLogger(log.With("provider", p.number)))
	if err != nil {
		return err
	}
	p.server, err = cluster.NewProvider(p.registry, service, p.weight)
	if err != nil {
		return err
	}
	p.address = p.server.Address
	return nil
}

// newProcess starts one that can be killed.
func (s *stage) newProcess(ctx context.Context, weight int) error {
	p := &provider{number: len(s.providers) + 1, weight: weight}
	s.providers = append(s.providers, p)
	process, err := cluster.StartProcess(ctx, cluster.ProcessConfig{
		Etcd: s.etcd.Endpoint(), Service: service, Weight: weight, TTL: ttl,
	}, s.cfg.Log)
	if err != nil {
		return fmt.Errorf("provider %d: %w", p.number, err)
	}
	p.process, p.address = process, process.Address
	return nil
}

// stop ends it, in order unless it is a process.
func (p *provider) stop() error {
	var errs []error
	if p.process != nil {
		errs = append(errs, p.process.Kill())
	}
	if p.server != nil {
		errs = append(errs, p.server.Stop())
	}
	if p.registry != nil {
		errs = append(errs, p.registry.Close())
	}
	if p.dialled != nil {
		errs = append(errs, p.dialled.Close())
	}
	return errors.Join(errs...)
}
