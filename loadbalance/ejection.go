// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"cmp"
	"maps"
	"time"

	"github.com/fairway-rpc/fairway/internal/fault"
	"github.com/fairway-rpc/fairway/loadbalance/internal/outlier"
)

// Ejection says which instances get no calls for a while since they fail, or are
// far slower than the others (gRPC's proposal A50 is the model). Fields that are
// 0 stand for their defaults, and a negative threshold turns its cause off. A
// failure is an attempt that got no connection, no answer in time, or a broken
// connection; a business error is none.
type Ejection struct {
	// Interval is the time between two comparisons of the instances, of which each
	// looks at the last one, three and ten of these. Defaults to 1 s.
	Interval time.Duration
	// BaseTime is how long an instance is ejected at first; each time that it is
	// ejected soon again it is for as much longer, up to MaxTime. They default to
	// 30 s and 300 s.
	BaseTime, MaxTime time.Duration
	// MaxShare is the greatest share of the instances that are ejected at a time,
	// rounded down. Defaults to 0.5; at most 1.
	MaxShare float64
	// ConsecutiveFailures is how many calls in a row must fail. Defaults to 5.
	ConsecutiveFailures int
	// FailureShare is the share of failed calls at which an instance is ejected
	// whatever the others do. Defaults to 0.85.
	FailureShare float64
	// SuccessRateFactor is by how many standard deviations fewer calls must succeed
	// than of the others. Defaults to 1.9.
	SuccessRateFactor float64
	// LatencyFactor is how many times the median latency of the others an instance
	// must exceed, and by 10 ms at least. Defaults to 3.
	LatencyFactor float64
	// MinCalls is how many calls an instance must have had before it is compared.
	// Defaults to 20.
	MinCalls int
	// FailClosed has picks fail with [ErrAllEjected] where all instances are ejected
	// or unhealthy. Without it calls go to all of them then.
	FailClosed bool
}

// Eject has the balancer eject instances. It takes effect where package middleware
// tells how calls went, and is what that package's WithEjection calls. Errors wrap
// [ErrInvalidConfig]; a balancer that ejects already cannot do so in another way.
func (b *Balancer) Eject(e Ejection) error {
	if b.methods != nil {
		for _, inner := range b.methods.all() {
			if err := inner.Eject(e); err != nil {
				return err
			}
		}
		return nil
	}
	cfg := e.config()
	if err := cfg.Check(); err != nil {
		return fault.Invalid("WithEjection", "%v", err)
	}
	b.core.mu.Lock() // a service that is being made has seen it, or is listed
	defer b.core.mu.Unlock()
	if !b.core.ejection.CompareAndSwap(nil, &e) && *b.core.ejection.Load() != e {
		return fault.Invalid("WithEjection", "the balancer ejects by another configuration already")
	}
	b.core.services.Range(func(_, s any) bool {
		s.(*service).startEjecting(&e)
		return true
	})
	return nil
}

// OnEject has f told of each ejection from a service of the resolver with that
// name, by what the resolver calls the service and the cause, as [InstanceState] has
// it. Another f for the same resolver takes its place, so that an ejection is told
// once. It is called from one goroutine for each service and must not block. It is
// what package middleware counts ejections with.
func (b *Balancer) OnEject(resolver string, f func(service, cause string)) {
	if b.methods != nil {
		for _, inner := range b.methods.all() {
			inner.OnEject(resolver, f)
		}
		return
	}
	b.core.mu.Lock()
	defer b.core.mu.Unlock()
	told := make(map[string]func(service, cause string))
	if before := b.core.onEject.Load(); before != nil {
		told = maps.Clone(*before)
	}
	told[resolver] = f
	b.core.onEject.Store(&told)
}

// config is the detector's, with the defaults.
func (e *Ejection) config() outlier.Config {
	c := outlier.Defaults()
	c.Interval = cmp.Or(e.Interval, c.Interval)
	c.BaseTime = cmp.Or(e.BaseTime, c.BaseTime)
	c.MaxTime = cmp.Or(e.MaxTime, max(c.MaxTime, c.BaseTime))
	c.MaxShare = cmp.Or(e.MaxShare, c.MaxShare)
	c.ConsecutiveFailures = max(0, cmp.Or(e.ConsecutiveFailures, c.ConsecutiveFailures))
	c.FailureShare.Threshold = max(0, cmp.Or(e.FailureShare, c.FailureShare.Threshold))
	c.SuccessRate.StdevFactor = max(0, cmp.Or(e.SuccessRateFactor, c.SuccessRate.StdevFactor))
	c.Latency.Factor = max(0, cmp.Or(e.LatencyFactor, c.Latency.Factor))
	c.FailureShare.MinCalls = cmp.Or(e.MinCalls, c.FailureShare.MinCalls)
	c.SuccessRate.MinCalls = cmp.Or(e.MinCalls, c.SuccessRate.MinCalls)
	c.Latency.MinCalls = cmp.Or(e.MinCalls, c.Latency.MinCalls)
	return c
}
