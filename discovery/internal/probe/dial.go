// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"net"
)

// dial connects and hangs up. Nothing is sent: the instance's server sees a
// client that changed its mind.
func dial(ctx context.Context, network, address string) error {
	d := net.Dialer{KeepAlive: -1} // the connection does not live long enough for one
	conn, err := d.DialContext(ctx, network, address)
	if err != nil {
		return err
	}
	return conn.Close()
}
