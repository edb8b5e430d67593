// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import "context"

// addressFinder finds the advertised address anew.
type addressFinder func(ctx context.Context) (address string, certain bool)

// findAddress looks once more for an address that was a guess at Register,
// when etcd's name did not resolve: now etcd has granted a lease. Once a put
// was sent the address stays, for consumers may have seen it.
func (g *registration) findAddress(ctx context.Context) {
	g.mu.Lock()
	find := g.find
	if g.tried {
		find = nil
	}
	g.mu.Unlock()
	if find == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, registerWait)
	defer cancel()
	address, certain := find(ctx)
	g.mu.Lock()
	before := g.base.Address
	if certain {
		g.find = nil
		g.move(address)
	}
	g.mu.Unlock()
	if certain && before != address {
		g.log.Info("found the address that routes to etcd", "address", address, "was", before)
	}
}

// move changes the advertised address. The caller holds the mutex.
func (g *registration) move(address string) {
	base := *g.base
	base.Address = address
	g.base = &base
	version := g.target.version
	g.target = g.aimed(g.target.record, g.target.hidden)
	g.target.version = version // nobody has wished for anything
}
