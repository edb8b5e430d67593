// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !windows

package discovery

import (
	"os"
	"syscall"
	"testing"

	"go.etcd.io/etcd/api/v3/mvccpb"
)

// hang makes a file whose reader waits until it is released.
func hang(t *testing.T, file string) (release func()) {
	t.Helper()
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	return func() {
		if f, err := os.OpenFile(file, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
			_ = f.Close()
		}
	}
}

func supersedesOf(t *testing.T, found, ours *record) int {
	t.Helper()
	value, err := found.encode()
	if err != nil {
		t.Fatal(err)
	}
	if supersedes(&mvccpb.KeyValue{Value: value, Lease: 1}, ours) {
		return 1
	}
	return 0
}
