// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package leaktest

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/client/genericclient"
	"github.com/cloudwego/kitex/pkg/generic"
	kloadbalance "github.com/cloudwego/kitex/pkg/loadbalance"
	"github.com/cloudwego/kitex/pkg/transmeta"
	"github.com/cloudwego/kitex/server"
	"github.com/cloudwego/kitex/server/genericserver"
	"github.com/cloudwego/kitex/transport"
)

const service = "echo"

// emptyStruct is a Thrift struct without fields.
var emptyStruct = []byte{0}

// newServer runs a Kitex server that answers every call, and returns its address.
// The test's end stops it if stop does not.
func newServer(t *testing.T) (addr string, stop func()) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := genericserver.NewServerV2(newHandler(), generic.BinaryThriftGenericV2(service),
		server.WithListener(ln),
		server.WithExitWaitTime(time.Millisecond),
		server.WithMetaHandler(transmeta.ServerTTHeaderHandler))
	ended := make(chan error, 1)
	go func() { ended <- srv.Run() }()
	stop = sync.OnceFunc(func() {
		if err := srv.Stop(); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return ln.Addr().String(), stop
}

// newHandler answers unary calls, which over gRPC reach it as streams.
func newHandler() *generic.ServiceV2 {
	return &generic.ServiceV2{
		GenericCall: func(context.Context, string, string, any) (any, error) { return emptyStruct, nil },
		BidiStreaming: func(ctx context.Context, _, _ string, stream generic.BidiStreamingServer) error {
			if _, err := stream.Recv(ctx); err != nil {
				return err
			}
			return stream.Send(ctx, emptyStruct)
		},
	}
}

// balancer has a name of its own, as Fairway's balancers do: Kitex then keeps a
// cache for each client.
type balancer struct{ kloadbalance.Loadbalancer }

func (balancer) Name() string { return "leaktest" }

func newClient(t *testing.T, addr string, opts ...client.Option) genericclient.Client {
	t.Helper()
	opts = append(opts, client.WithHostPorts(addr),
		client.WithMetaHandler(transmeta.ClientTTHeaderHandler),
		client.WithLoadBalancer(balancer{kloadbalance.NewWeightedBalancer()}))
	cli, err := genericclient.NewClient(service, generic.BinaryThriftGenericV2(service), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cli.Close() })
	return cli
}

// call uses both of Kitex's transports once and closes the clients.
func call(t *testing.T, addr string) {
	t.Helper()
	for _, p := range []transport.Protocol{transport.TTHeader, transport.GRPC} {
		cli := newClient(t, addr, client.WithTransportProtocol(p), client.WithRPCTimeout(10*time.Second))
		if _, err := cli.GenericCall(t.Context(), "Echo", emptyStruct); err != nil {
			t.Errorf("call by %v: %v", p, err)
		}
		if err := cli.Close(); err != nil {
			t.Error(err)
		}
	}
}
