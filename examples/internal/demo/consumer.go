// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/connpool"
	"github.com/cloudwego/kitex/pkg/utils"
	"go.opentelemetry.io/otel/trace"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/examples/internal/load"
	"github.com/fairway-rpc/fairway/examples/internal/telemetry"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice"
	"github.com/fairway-rpc/fairway/loadbalance"
	"github.com/fairway-rpc/fairway/middleware"
)

const (
	// keyCount is how many different messages, which are the keys of
	// consistent-hash, the calls have.
	keyCount = 10_000
	// delayMS is how long a provider takes for a call, so that there are calls
	// in flight to see.
	delayMS = 2
	// rpcTimeout is generous: the machine may have other things to do.
	rpcTimeout     = 5 * time.Second
	connectTimeout = time.Second
)

func newBalancer(policy string) (*loadbalance.Balancer, error) {
	return loadbalance.New(policy, loadbalance.WithKey(messageOf))
}

// messageOf is the key of a call, for policies that hash.
func messageOf(_ context.Context, request any) string {
	args, ok := request.(utils.KitexArgs)
	if !ok {
		return ""
	}
	r, ok := args.GetFirstArgument().(*echo.Request)
	if !ok {
		return ""
	}
	return r.Message
}

// newClient makes the consumer's client. A nil provider makes no spans.
func newClient(res *discovery.Resolver, policy string, provider trace.TracerProvider) (echoservice.Client, error) {
	balancer, err := newBalancer(policy)
	if err != nil {
		return nil, err
	}
	options := []client.Option{
		client.WithRPCTimeout(rpcTimeout),
		client.WithConnectTimeout(connectTimeout),
		client.WithLongConnection(connpool.IdleConfig{MaxIdlePerAddress: 100, MaxIdleGlobal: 1000, MaxIdleTimeout: time.Minute}),
		client.WithInstanceMW(load.Middleware),
	}
	spans := middleware.WithPickSpans(middleware.PickSpansOff)
	if provider != nil {
		spans = middleware.WithTracerProvider(provider)
		options = append(options, client.WithSuite(telemetry.ClientSuite(provider)))
	}
	options = append(options, client.WithSuite(middleware.NewClientSuite(res, balancer, spans)))
	return echoservice.NewClient(service, options...)
}

// newLoad calls the service with random keys.
func newLoad(cfg Config, cli echoservice.Client, counts *load.Counts) *load.Generator {
	keys := make([]string, keyCount)
	for i := range keys {
		keys[i] = fmt.Sprintf("key-%d", i)
	}
	return &load.Generator{QPS: cfg.QPS, Callers: cfg.Callers, Call: func(ctx context.Context) {
		counts.Do(ctx, func(ctx context.Context) error {
			_, err := cli.Echo(ctx, &echo.Request{Message: keys[rand.IntN(len(keys))], DelayMs: delayMS})
			return err
		})
	}}
}
