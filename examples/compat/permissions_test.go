// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"errors"
	"testing"

	"github.com/cloudwego/kitex/pkg/registry"
	"github.com/cloudwego/kitex/pkg/utils"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fairway-rpc/fairway/discovery"
)

const password = "secret"

// permission is on all keys that begin with Folder.
type permission struct {
	Folder string
	Kind   clientv3.PermissionType
}

// TestPermissionsThatSuffice: with etcd's authentication on, these are all that
// Fairway's providers and consumers of a service need.
func TestPermissionsThatSuffice(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.user(t, "provider", permission{prefix + "/" + service + "/", clientv3.PermissionType(clientv3.PermReadWrite)})
	f.user(t, "consumer",
		permission{prefix + "/" + service + "/", clientv3.PermissionType(clientv3.PermRead)},
		permission{prefix + "/_rules/" + service + "/", clientv3.PermissionType(clientv3.PermRead)})
	f.user(t, "root")
	if _, err := f.etcd.AuthEnable(t.Context()); err != nil {
		t.Fatal(err)
	}
	provider, consumer := f.dial(t, "provider"), f.dial(t, "consumer")
	if _, err := consumer.Put(t.Context(), prefix+"/"+service+"/x", ""); !errors.Is(err, rpctypes.ErrPermissionDenied) {
		t.Fatalf("a consumer's put: got %v, want a refusal", err)
	}

	res, err := discovery.NewResolver(consumer, discovery.WithPrefix(prefix), discovery.WithoutSnapshotDir())
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	known := func(n int) func() bool {
		return func() bool {
			_, _ = res.Resolve(t.Context(), service)
			s, ok := res.Snapshot(service)
			return ok && s.State == discovery.FeedLive && len(s.Instances) == n
		}
	}
	waitFor(t, "the consumer lists", known(0))
	reg, err := discovery.NewRegistry(provider, discovery.WithPrefix(prefix), discovery.WithDrainDelay(0), discovery.WithFailFast())
	if err != nil {
		t.Fatal(err)
	}
	defer reg.Close()
	info := &registry.Info{ServiceName: service, Addr: utils.NewNetAddr("tcp", "10.0.0.1:1")}
	if err := reg.Register(info); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the consumer sees the provider", known(1))
	if err := reg.Deregister(info); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the consumer sees that it is gone", known(0))
}

// user adds one with a role of the same name.
func (f *fleet) user(t *testing.T, name string, permissions ...permission) {
	t.Helper()
	_, err := f.etcd.RoleAdd(t.Context(), name)
	for _, p := range permissions {
		_, granted := f.etcd.RoleGrantPermission(t.Context(), name, p.Folder, clientv3.GetPrefixRangeEnd(p.Folder), p.Kind)
		err = errors.Join(err, granted)
	}
	_, added := f.etcd.UserAdd(t.Context(), name, password)
	_, given := f.etcd.UserGrantRole(t.Context(), name, name)
	if err := errors.Join(err, added, given); err != nil {
		t.Fatal(err)
	}
}

func (f *fleet) dial(t *testing.T, user string) *clientv3.Client {
	t.Helper()
	cli, err := discovery.Dial(discovery.EtcdConfig{Endpoints: []string{f.endpoint}, Username: user, Password: password})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cli.Close() })
	return cli
}
