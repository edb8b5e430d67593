// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	"github.com/cloudwego/kitex/pkg/rpcinfo"

	"github.com/fairway-rpc/fairway/internal/fault"
	"github.com/fairway-rpc/fairway/internal/live"
)

var _ kdiscovery.Resolver = (*Static)(nil)

// Static is a resolver without a registry: a list of instances in memory, which
// the program itself changes at any time. It implements Kitex's
// discovery.Resolver and may serve any services, all of which get the whole
// list: make one Static for each list.
//
// When [Static.Add], [Static.Remove] or [Static.SetWeight] has returned, the next
// pick of a loadbalance.Balancer goes by the change: they wait until the
// balancers that use the list have built it in, which picks do not wait for.
// Kitex's own balancers follow when Kitex resolves again, every five seconds by
// default. All methods are safe for concurrent use.
type Static struct {
	name string
	view *live.View // one for all services

	mu       sync.Mutex
	nodes    []*live.Node        // those published are never written to again
	listed   map[string]struct{} // their addresses
	known    bool                // there was an instance once
	revision int64               // counts the changes
	serving  []kdiscovery.Instance
	current  bool // serving is that of nodes
	services map[string]struct{}
	closed   bool
}

var statics atomic.Int64

// NewStatic makes a resolver with an empty list.
func NewStatic() *Static {
	s := &Static{
		name:     fmt.Sprintf("fairway-static-%d", statics.Add(1)),
		view:     &live.View{},
		listed:   make(map[string]struct{}),
		services: make(map[string]struct{}),
	}
	s.view.Prove(time.Unix(0, math.MaxInt64)) // always: there is nothing that the list could lag behind
	return s
}

// Name implements Kitex's discovery.Resolver. It is unique per Static.
func (s *Static) Name() string { return s.name }

// String is what Kitex prints of the resolver.
func (s *Static) String() string { return s.name }

// Target implements Kitex's discovery.Resolver.
func (s *Static) Target(_ context.Context, target rpcinfo.EndpointInfo) string {
	return target.ServiceName()
}

// Resolve implements Kitex's discovery.Resolver: the instances of a weight above
// 0, whatever the service, in the order in which they were added.
//
// As long as nothing was ever added the error is [ErrServiceNotFound]. A list that
// was emptied is an empty Result without an error, so that Kitex drops the old
// one. Over [DefaultMaxServices] services are refused with [ErrInvalidConfig].
func (s *Static) Resolve(_ context.Context, service string) (kdiscovery.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.known {
		return kdiscovery.Result{}, fmt.Errorf("%w: %q: nothing was added to %s", ErrServiceNotFound, service, s.name)
	}
	if err := s.enter(service); err != nil {
		return kdiscovery.Result{}, err
	}
	return kdiscovery.Result{Cacheable: true, CacheKey: service, Instances: s.present()}, nil
}

// enter has balancers find the view. Callers hold mu.
func (s *Static) enter(service string) error {
	if _, entered := s.services[service]; entered || s.closed {
		return nil
	}
	if len(s.services) >= DefaultMaxServices {
		return fault.Invalid("NewStatic", "%d services use %s already; %q would be one too many", len(s.services), s.name, service)
	}
	s.services[service] = struct{}{}
	live.Enter(live.Key(s.name, service), s.view)
	return nil
}

// present is the list for Kitex. Callers hold mu.
func (s *Static) present() []kdiscovery.Instance {
	if s.current {
		return s.serving
	}
	s.serving = make([]kdiscovery.Instance, 0, len(s.nodes))
	for i := range s.nodes {
		if s.nodes[i].Weight > 0 {
			s.serving = append(s.serving, s.nodes[i].Instance)
		}
	}
	s.current = true
	return s.serving
}

// Diff implements Kitex's discovery.Resolver.
func (s *Static) Diff(cacheKey string, prev, next kdiscovery.Result) (kdiscovery.Change, bool) {
	return kdiscovery.DefaultDiff(cacheKey, prev, next)
}

// Close has balancers let go of the list. It is served on as it is; changes are
// refused with [ErrClosed]. Close never fails and may be called more than once.
func (s *Static) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	for service := range s.services {
		live.Leave(live.Key(s.name, service), s.view)
	}
	s.view.Close()
	return nil
}
