// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net"
	"strconv"
)

// freePorts returns as many different ports of 127.0.0.1 as there are names, as
// NAME=port. Another process may take one before compose does; the run then
// fails at its start and says so.
func freePorts(ctx context.Context, names []string) ([]string, error) {
	var open []net.Listener // kept until all are found, so that they differ
	defer func() {
		for _, l := range open {
			_ = l.Close()
		}
	}()
	set := make([]string, 0, len(names))
	for _, name := range names {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find a free port for %s: %w", name, err)
		}
		open = append(open, l)
		port := l.Addr().(*net.TCPAddr).Port
		set = append(set, name+"="+strconv.Itoa(port))
	}
	return set, nil
}
