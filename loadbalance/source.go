// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"context"
	"net"
	"os"

	"github.com/fairway-rpc/fairway/loadbalance/internal/hashring"
)

// ownHash is the key of this process: the address that it has in the network, as
// a server would see it, or its host's name if it has none.
func ownHash() func(context.Context, any) (uint64, bool) {
	hash := hashring.Hash(ownAddress())
	return func(context.Context, any) (uint64, bool) { return hash, true }
}

func ownAddress() string {
	addresses, _ := net.InterfaceAddrs() // without any, the name has to do
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
			return n.IP.String()
		}
	}
	name, _ := os.Hostname() // without a name, all such processes share an instance
	return name
}

// hostOf leaves out the port, which differs from connection to connection.
func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil { // a Unix socket's path
		return address
	}
	return host
}
