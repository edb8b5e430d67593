// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"sync"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
)

// core is what all views of one balancer share: the policy and the services.
type core struct {
	policy policy
	config *config
	name   string
	counts bool

	services sync.Map   // key to *service
	mu       sync.Mutex // held while one is made
}

// service returns the state under the result's key, making it at first use.
func (c *core) service(res kdiscovery.Result) *service {
	if s, ok := c.services.Load(res.CacheKey); ok {
		return s.(*service)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.services.Load(res.CacheKey); ok {
		return s.(*service)
	}
	s := newService(c, res.CacheKey, res)
	c.services.Store(res.CacheKey, s)
	return s
}

// drop forgets a service; the next pick under its key makes it anew.
func (c *core) drop(s *service) {
	c.services.CompareAndDelete(s.key, s)
	s.gone.Store(true)
	if s.unfollow != nil {
		s.unfollow()
	}
}

func (c *core) find(key string) *service {
	s, ok := c.services.Load(key)
	if !ok {
		return nil
	}
	return s.(*service)
}
