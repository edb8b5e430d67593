// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"strings"
	"time"

	"github.com/fairway-rpc/fairway/internal/fault"
)

// WithCluster names the etcd cluster in the paths and headers of the disk copy.
// Defaults to a hash of the client's endpoints, so set it where endpoints
// change or the client is wrapped by clientv3/namespace.
func WithCluster(name string) ResolverOption {
	return resolverOption(func(c *resolverConfig) error {
		if name == "" || len(name) > maxServiceName || strings.ContainsFunc(name, notInServiceName) {
			return fault.Invalid("WithCluster", "%q: use 1 to %d letters, digits and . _ - : @", name, maxServiceName)
		}
		c.cluster = name
		return nil
	})
}

// WithSnapshotDir sets the folder of the disk copy; it is made when needed.
// Defaults to "fairway" under the user's cache folder.
func WithSnapshotDir(dir string) ResolverOption {
	return resolverOption(func(c *resolverConfig) error {
		if dir == "" {
			return fault.Invalid("WithSnapshotDir", "it is empty; use WithoutSnapshotDir to keep nothing on disk")
		}
		c.snapshotDir, c.noSnapshots = dir, false
		return nil
	})
}

// WithoutSnapshotDir keeps nothing on disk: a consumer that starts while etcd
// is down then knows no instance.
func WithoutSnapshotDir() ResolverOption {
	return resolverOption(func(c *resolverConfig) error {
		c.noSnapshots = true
		return nil
	})
}

// WithMaxSnapshotAge refuses a disk copy that etcd last proved longer ago.
// Defaults to any age.
func WithMaxSnapshotAge(age time.Duration) ResolverOption {
	return resolverOption(func(c *resolverConfig) error {
		if age <= 0 {
			return fault.Invalid("WithMaxSnapshotAge", "%v is not positive", age)
		}
		c.maxSnapshotAge = age
		return nil
	})
}

// WithResolveTimeout sets how long the first calls to a service wait for its
// first list before they use the disk copy. Defaults to 1 s.
func WithResolveTimeout(timeout time.Duration) ResolverOption {
	return resolverOption(func(c *resolverConfig) error {
		if timeout <= 0 {
			return fault.Invalid("WithResolveTimeout", "%v is not positive", timeout)
		}
		c.resolveTimeout = timeout
		return nil
	})
}

// WithMaxServices bounds the services that one resolver follows at a time.
// Defaults to 4,096.
func WithMaxServices(n int) ResolverOption {
	return resolverOption(func(c *resolverConfig) error {
		if n < 1 {
			return fault.Invalid("WithMaxServices", "%d is less than 1", n)
		}
		c.maxServices = n
		return nil
	})
}
