// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"sync"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/klog"
	"github.com/cloudwego/kitex/pkg/utils"
	"go.opentelemetry.io/otel/metric"
)

// usage is how many clients a suite is used for. As long as there are any, what it
// counts itself is read at each collection.
type usage struct {
	mu           sync.Mutex
	clients      int
	registration metric.Registration
}

// observeWhileOpen has the client's metrics read until it is closed.
func (c *clientMetrics) observeWhileOpen() client.Option {
	return client.Option{F: func(o *client.Options, _ *utils.Slice) {
		c.open()
		o.CloseCallbacks = append(o.CloseCallbacks, sync.OnceValue(c.close))
	}}
}

func (c *clientMetrics) open() {
	c.use.mu.Lock()
	defer c.use.mu.Unlock()
	if c.use.clients++; c.use.clients > 1 {
		return
	}
	registration, err := c.meter.RegisterCallback(c.observe, c.active, c.picks)
	if err != nil {
		klog.Errorf("fairway: calls under way and picks are not measured: %v", err)
	}
	c.use.registration = registration
}

func (c *clientMetrics) close() error {
	c.use.mu.Lock()
	defer c.use.mu.Unlock()
	if c.use.clients--; c.use.clients > 0 || c.use.registration == nil {
		return nil
	}
	return c.use.registration.Unregister()
}
