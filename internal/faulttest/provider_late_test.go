// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package faulttest

import (
	"context"
	"sync"
	"testing"
	"time"

	kregistry "github.com/cloudwego/kitex/pkg/registry"
	"github.com/cloudwego/kitex/pkg/utils"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/internal/etcdtest"
)

// TestPutArrivesAfterTheDelete: the network keeps a provider's put until that
// has given it up, registered by another and left. The put is on the condition
// that the key is absent, as it then is. The other service of the same registry
// notices nothing of all that.
func TestPutArrivesAfterTheDelete(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.Start(t)
	net, log := &lateNetwork{}, testLog(t)
	cli, err := discovery.Dial(discovery.EtcdConfig{
		Endpoints:   []string{etcd.Endpoint()},
		Logger:      log,
		DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(net.carry)},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cli.Close() })
	reg, err := discovery.NewRegistry(cli, discovery.WithLogger(log), discovery.WithDrainDelay(0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reg.Close() })

	info := func(name string) *kregistry.Info {
		return &kregistry.Info{ServiceName: name, Addr: utils.NewNetAddr("tcp", "127.0.0.1:1")}
	}
	const leaving, staying = "fairway/leaving/127.0.0.1:1", "fairway/staying/127.0.0.1:1"
	clean := etcd.Client(t)
	if err := reg.Register(info("staying")); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the other service is registered", func() bool { return getKey(t, clean, staying) != nil })
	before := *getKey(t, clean, staying)
	net.keepNext()
	if err := reg.Register(info("leaving")); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "it is registered by a second put", func() bool { return getKey(t, clean, leaving) != nil })
	if err := reg.Deregister(info("leaving")); err != nil {
		t.Fatal(err)
	}
	if kv := getKey(t, clean, leaving); kv != nil {
		t.Fatalf("it has left a key: %+v", kv)
	}
	net.deliver(t)
	if kv := getKey(t, clean, leaving); kv != nil {
		t.Errorf("a ghost: %+v", kv)
	}
	if after := getKey(t, clean, staying); after == nil || after.lease != before.lease || after.modified != before.modified {
		t.Errorf("the other service's key went from %+v to %+v", before, after)
	}
	if leases, err := clean.Leases(t.Context()); err != nil || len(leases.Leases) != 1 || leases.Leases[0].ID != before.lease {
		t.Errorf("leases %+v, %v; want the other service's", leases, err)
	}
}

// lateNetwork keeps a write and tells its sender that the connection broke.
type lateNetwork struct {
	mu   sync.Mutex
	keep bool
	kept func(context.Context) error
}

func (n *lateNetwork) carry(ctx context.Context, method string, request, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	n.mu.Lock()
	keeps := n.keep && method == etcdserverpb.KV_Txn_FullMethodName
	if keeps {
		n.keep = false
		n.kept = func(ctx context.Context) error {
			return invoke(ctx, method, request, new(etcdserverpb.TxnResponse), cc, opts...)
		}
	}
	n.mu.Unlock()
	if keeps {
		return grpcstatus.Error(codes.Unavailable, "the connection broke")
	}
	return invoke(ctx, method, request, reply, cc, opts...)
}

func (n *lateNetwork) keepNext() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.keep = true
}

// deliver gives etcd what was kept, and waits for its answer.
func (n *lateNetwork) deliver(t *testing.T) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.kept == nil {
		t.Fatal("nothing was late")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := n.kept(ctx); grpcstatus.Code(err) != codes.NotFound {
		t.Errorf("etcd has answered %v to the late put, want that its lease is gone", err)
	}
}
