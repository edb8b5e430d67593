// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"errors"
	"net"
	"syscall"
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

// ours are the errors of a process or machine that cannot connect to anybody:
// they say nothing about the suspect.
var ours = []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.EADDRNOTAVAIL}

// inconclusive reports whether a probe failed for want of something here.
func inconclusive(err error) bool {
	for _, e := range ours {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
