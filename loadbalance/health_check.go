// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"context"
	"time"

	"github.com/fairway-rpc/fairway/internal/fault"
	"github.com/fairway-rpc/fairway/internal/health"
)

// HealthCheck says how instances are checked that calls do not go to while they
// are unhealthy. An instance is taken as healthy until checks say otherwise. Fields
// that are 0 stand for their defaults. Durations are at least 10 ms.
type HealthCheck struct {
	// Check asks one address, within ctx. It is called concurrently. Defaults to
	// [CheckTCP].
	Check func(ctx context.Context, address string) error
	// Interval is the time between two checks of an instance, give or take a tenth.
	// Defaults to 10 s. While checks contradict what is known, or the instance is
	// unhealthy, it is a second at most.
	Interval time.Duration
	// Timeout is how long a check may take. Defaults to 1 s.
	Timeout time.Duration
	// Unhealthy is how many checks in a row must fail, Healthy how many must succeed
	// afterwards. They default to 3 and 2.
	Unhealthy, Healthy int
	// Concurrency is the greatest number of checks of a service at a time. Defaults
	// to 16.
	Concurrency int
}

// CheckTCP is the check that connects to an instance and closes the connection.
func CheckTCP() func(ctx context.Context, address string) error { return health.TCP() }

// CheckHTTP is the check that gets a path by HTTP, from the instance's host at a
// port, or at the instance's own if that is 0. A status of 200 to 399 is healthy;
// redirections are not followed. Errors wrap [ErrInvalidConfig].
func CheckHTTP(path string, port int) (func(ctx context.Context, address string) error, error) {
	check, err := health.HTTPGet(path, port)
	if err != nil {
		return nil, fault.Invalid("CheckHTTP", "%v", err)
	}
	return check, nil
}

func (h *HealthCheck) config() health.Config {
	return health.Config{
		Interval:    h.Interval,
		Timeout:     h.Timeout,
		Unhealthy:   h.Unhealthy,
		Healthy:     h.Healthy,
		Concurrency: h.Concurrency,
	}
}

// CheckHealth has the balancer check the instances of every service that it is
// used for, for as long as that is so. It is what package middleware's
// WithHealthCheck calls. Errors wrap [ErrInvalidConfig]; a balancer that checks
// already goes on as it does, if the configuration is the same, and keeps its
// function.
func (b *Balancer) CheckHealth(h HealthCheck) error {
	if b.methods != nil {
		for _, inner := range b.methods.all() {
			if err := inner.CheckHealth(h); err != nil {
				return err
			}
		}
		return nil
	}
	if h.Check == nil {
		h.Check = CheckTCP()
	}
	probe, err := health.New(h.config(), h.Check, func(string, bool, error) {})
	if err != nil {
		return fault.Invalid("WithHealthCheck", "%v", err)
	}
	probe.Close()
	b.core.mu.Lock() // a service that is being made has seen it, or is listed
	defer b.core.mu.Unlock()
	if !b.core.healthCheck.CompareAndSwap(nil, &h) && b.core.healthCheck.Load().config() != h.config() {
		return fault.Invalid("WithHealthCheck", "the balancer checks by another configuration already")
	}
	b.core.services.Range(func(_, s any) bool {
		s.(*service).startChecking(b.core.healthCheck.Load())
		return true
	})
	return nil
}
