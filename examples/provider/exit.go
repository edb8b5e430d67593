// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/cloudwego/kitex/server"
)

// exitInOrder catches SIGINT and SIGTERM from now on and hands them to Kitex,
// which catches them by itself only once it listens: a provider that is stopped
// in between would end by the signal, without having closed anything.
func exitInOrder() server.Option {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	return server.WithExitSignal(func() <-chan error {
		ended := make(chan error, 1)
		go func() {
			<-signals
			signal.Stop(signals) // a second one ends the process at once
			ended <- nil
		}()
		return ended
	})
}
