// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fairway-rpc/fairway/internal/fault"
)

// checkClient refuses a client that would panic at first use: none, or one of
// clientv3.NewCtxClient to which nobody has given what talks to etcd.
func checkClient(where string, cli *clientv3.Client) error {
	switch {
	case cli == nil:
		return fault.Invalid(where, "the etcd client is nil")
	case cli.KV == nil || cli.Lease == nil || cli.Watcher == nil:
		return fault.Invalid(where, "the etcd client has no KV, Lease or Watcher: make it with discovery.Dial or clientv3.New")
	}
	return nil
}
