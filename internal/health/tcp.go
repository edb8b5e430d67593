// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"context"
	"fmt"
	"net"
)

// TCP returns a check that a target, of the form host:port, accepts a connection. It
// hangs up at once and sends nothing: the target's server sees a client that changed
// its mind.
func TCP() Func {
	dialer := net.Dialer{KeepAlive: -1} // no connection lives long enough for one
	return func(ctx context.Context, address string) error {
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err != nil {
			return fmt.Errorf("TCP health check: %w", err)
		}
		_ = conn.Close() // it was accepted, which is all that was asked
		return nil
	}
}
