// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
)

var errShut = errors.New("the network between the providers and etcd is down")

// gate is the network between the providers and etcd. While it is shut, nobody
// can connect; connections that are open stay. The zero gate is open. Its methods
// are safe for concurrent use.
type gate struct{ shut atomic.Bool }

func (g *gate) dial(ctx context.Context, address string) (net.Conn, error) {
	if g.shut.Load() {
		return nil, errShut
	}
	return new(net.Dialer).DialContext(ctx, "tcp", address)
}
