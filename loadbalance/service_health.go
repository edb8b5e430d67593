// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"log/slog"
	"slices"
	"time"

	"github.com/fairway-rpc/fairway/internal/health"
)

// checked is what health checks of a service go by.
type checked struct {
	checker   *health.Checker
	addresses []string // that the checker has; under the service's mu
}

// startChecking is called once, when the service is made or the balancer told.
func (s *service) startChecking(h *HealthCheck) {
	checker, err := health.New(h.config(), h.Check, s.reported)
	if err != nil || !s.health.CompareAndSwap(nil, &checked{checker: checker}) {
		return // the configuration was checked before
	}
	s.checkPresent()
}

// checkPresent has the present instances checked, none while the service is idle.
func (s *service) checkPresent() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.table.Load(); t != nil {
		s.checkThose(t)
	}
}

// checkThose has the instances of a table checked that could get calls. Callers
// hold mu.
func (s *service) checkThose(t *table) {
	h := s.health.Load()
	if h == nil {
		return
	}
	addresses := make([]string, 0, len(t.list))
	for _, c := range t.list {
		if c.serving && s.life.inUse() {
			addresses = append(addresses, c.address)
		}
	}
	if slices.Equal(h.addresses, addresses) {
		return
	}
	before := h.addresses
	h.addresses = addresses
	h.checker.Set(addresses)
	for _, address := range addresses {
		// The checker takes a new target as healthy, and tells only if it is not.
		if t.at(address).node.ill.Load() && !slices.Contains(before, address) {
			h.checker.Check(address)
		}
	}
}

// askAgain is the time between two checks that an ejected instance must pass one of.
const askAgain = time.Second

// reported takes in what checks say of an address. One that was asked for, since
// an ejected instance is to return, decides by itself.
func (s *service) reported(address string, healthy bool, err error) {
	t := s.table.Load()
	if t == nil {
		return
	}
	c := t.at(address)
	if c == nil {
		return
	}
	ill := !healthy || err != nil
	if c.node.ill.Swap(ill) == ill {
		if ill && healthy { // it is to return, and the checks have no verdict yet
			time.AfterFunc(askAgain, func() { s.health.Load().checker.Check(address) })
		}
		return
	}
	s.someAside.Store(true)
	s.changed()
	s.core.tellHealth(c.node, ill, err)
}

func (c *core) tellHealth(n *node, ill bool, err error) {
	held, ok := c.limiter.Allow("health " + n.service.key + " " + n.address)
	switch {
	case !ok:
	case ill:
		c.log.Warn("an instance is unhealthy; calls avoid it", c.about(n, held, slog.Any("error", err))...)
	default:
		c.log.Info("an instance is healthy again", c.about(n, held, slog.Any("error", err))...)
	}
}
