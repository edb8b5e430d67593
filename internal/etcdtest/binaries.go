// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"context"
	"os"
	"testing"
)

// The commands of the tools module that this package builds. The package main
// of etcd's server module is etcd itself.
const (
	etcdPackage    = "go.etcd.io/etcd/server/v3"
	etcdctlPackage = "go.etcd.io/etcd/etcdctl/v3"
	etcdutlPackage = "go.etcd.io/etcd/etcdutl/v3"
)

// Etcdctl returns the path of the etcdctl of the version that [Start] runs,
// built on first use as etcd is. [Server.EtcdctlFlags] lead it to a server.
func Etcdctl(tb testing.TB) string {
	tb.Helper()
	path, err := toolBinary(tb.Context(), "etcdctl", etcdctlPackage)
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

func etcdBinary(ctx context.Context) (string, error) {
	return toolBinary(ctx, "etcd", etcdPackage)
}

// etcdutlBinary returns the tool that restores snapshots.
func etcdutlBinary(ctx context.Context) (string, error) {
	return toolBinary(ctx, "etcdutl", etcdutlPackage)
}

func toolBinary(ctx context.Context, name, pkg string) (string, error) {
	tools, err := findTools()
	if err != nil {
		return "", err
	}
	dir, version, err := cacheDir(tools)
	if err != nil {
		return "", err
	}
	c := cache{
		dir:  dir,
		note: os.Stderr,
		build: func(ctx context.Context, out string) error {
			return goBuild(ctx, tools, pkg, out)
		},
	}
	return c.binary(ctx, name, version)
}
