// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"strings"

	"github.com/cloudwego/kitex/pkg/utils"

	"github.com/fairway-rpc/fairway/internal/live"
)

// StaticInstance is an instance in the list of a [Static].
type StaticInstance struct {
	Address string
	Weight  int
}

// staticNode checks what a caller says of an instance.
func staticNode(address string, weight int) (*live.Node, error) {
	network, address := splitNetwork(address)
	if err := checkAddress(network, address); err != nil {
		return nil, err
	}
	if err := checkWeight(int64(weight)); err != nil {
		return nil, err
	}
	return &live.Node{
		Instance: &Instance{addr: utils.NewNetAddr(network, address), state: StateServing, weight: weight},
		Address:  address,
		Weight:   weight,
		Serving:  true,
	}, nil
}

// splitNetwork tells sockets from hosts as rules do, or by their prefix.
func splitNetwork(address string) (network, rest string) {
	if path, found := strings.CutPrefix(address, "unix:"); found {
		return "unix", path
	}
	if strings.Contains(address, "/") || strings.HasPrefix(address, "@") {
		return "unix", address
	}
	return "tcp", address
}
