// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
)

// TestUnhealthyInstanceIsForgivenWhenItIsCheckedAnew: it was drained meanwhile, or
// the service was idle, and nobody has checked it.
func TestUnhealthyInstanceIsForgivenWhenItIsCheckedAnew(t *testing.T) {
	for name, away := range map[string]func(b *Balancer){
		"drained": func(b *Balancer) { b.Rebalance(kdiscovery.Change{Result: result("r", 10, 0)}) },
		"idle":    func(b *Balancer) { b.Delete(kdiscovery.Change{Result: result("r")}) },
	} {
		t.Run(name, func(t *testing.T) {
			b := mustNew(t, RoundRobin)
			var well atomic.Bool
			if err := b.CheckHealth(HealthCheck{Interval: 10 * time.Millisecond, Check: func(_ context.Context, address string) error {
				if address == "i1:80" && !well.Load() {
					return errors.New("ill")
				}
				return nil
			}}); err != nil {
				t.Fatal(err)
			}
			_ = call(t.Context(), b, result("r", 10, 10))
			defer func() { b.core.drop(b.core.find("r")) }()
			unhealthy := func() bool { return b.State()[0].Instances[1].Unhealthy }
			waitFor(t, "it is found unhealthy", unhealthy)
			well.Store(true)
			away(b)
			b.core.find("r").checkPresent()
			_ = call(t.Context(), b, result("r", 10, 10)) // Kitex asks again
			b.Rebalance(kdiscovery.Change{Result: result("r", 10, 10)})
			waitFor(t, "it is healthy again", func() bool { return !unhealthy() })
		})
	}
}
