// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"log/slog"
	"sync"
	"sync/atomic"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"

	"github.com/fairway-rpc/fairway/internal/live"
	"github.com/fairway-rpc/fairway/internal/logging"
)

// core is what all views of one balancer share: the policy and the services.
type core struct {
	policy policy
	config *config
	counts bool

	ejection    atomic.Pointer[Ejection]                               // nil for none
	healthCheck atomic.Pointer[HealthCheck]                            // nil for none
	onEject     atomic.Pointer[map[string]func(service, cause string)] // by resolver

	log     *slog.Logger
	limiter logging.Limiter

	services sync.Map   // key to *service
	mu       sync.Mutex // held while one is made
}

func newCore(p policy, cfg *config) *core {
	_, counts := p.engine(cfg).(counter)
	return &core{policy: p, config: cfg, counts: counts, log: logging.Default()}
}

// service returns the state under the result's key, making it at first use. A
// key means nothing for a result that must not be cached: it has its state to
// itself, which is used again only for the very same list.
func (c *core) service(res kdiscovery.Result) *service {
	if s := c.find(res.CacheKey); s != nil && s.fits(res) {
		return s
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.find(res.CacheKey); s != nil && s.fits(res) {
		return s
	}
	s := newService(c, res)
	if old, had := c.services.Swap(s.key, s); had {
		old.(*service).end()
	}
	if s.view != nil && s.view.Closed() { // perhaps before it was followed, so that nobody tells
		c.drop(s)
	}
	return s
}

// fits reports whether the state serves the result. A plain one that was idle
// gives way to a view that has come under its key meanwhile.
func (s *service) fits(res kdiscovery.Result) bool {
	switch {
	case s.view != nil:
		return true
	case s.life.is(idle) && live.Find(s.key) != nil:
		return false
	}
	return res.Cacheable || s.shows(res.Instances)
}

// drop forgets a service; the next pick under its key makes it anew.
func (c *core) drop(s *service) {
	c.services.CompareAndDelete(s.key, s)
	s.end()
}

func (c *core) find(key string) *service {
	s, ok := c.services.Load(key)
	if !ok || s.(*service).life.is(gone) {
		return nil
	}
	return s.(*service)
}

// await is find for a change that will not be told again: if a first table is
// being built, perhaps from the list before the change, it waits for that.
func (c *core) await(key string) *service {
	if s := c.find(key); s != nil {
		return s
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.find(key)
}
