// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fairway-rpc/fairway/internal/fault"
)

// checkClient refuses a client that would panic at first use: none, or one of
// clientv3.NewCtxClient to which nobody has given the parts that are needed.
func checkClient(where string, cli *clientv3.Client, parts func(*clientv3.Client) []any) error {
	if cli == nil {
		return fault.Invalid(where, "the etcd client is nil")
	}
	if slices.Contains(parts(cli), nil) {
		return fault.Invalid(where, "the etcd client lacks a part: make it with discovery.Dial or clientv3.New")
	}
	return nil
}

func reading(cli *clientv3.Client) []any { return []any{cli.KV, cli.Watcher} }

func registering(cli *clientv3.Client) []any { return []any{cli.KV, cli.Watcher, cli.Lease} }

func ruling(cli *clientv3.Client) []any { return []any{cli.KV} }
