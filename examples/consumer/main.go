// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Consumer calls the Echo service through etcd at a steady rate and logs how
// the calls were spread:
//
//	go -C examples run ./consumer -policy least-active
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/utils"
	"go.opentelemetry.io/otel"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/examples/internal/load"
	"github.com/fairway-rpc/fairway/examples/internal/telemetry"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice"
	"github.com/fairway-rpc/fairway/loadbalance"
	"github.com/fairway-rpc/fairway/middleware"
)

func main() {
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, nil)))
	cfg, err := parse(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintf(os.Stderr, "consumer: %v\n", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process
	if err := run(ctx, cfg); err != nil {
		slog.Error("the consumer has failed", "error", err)
		os.Exit(1)
	}
}

// run calls the service until ctx ends.
func run(ctx context.Context, cfg config) error {
	etcd, err := discovery.Dial(discovery.EtcdConfig{Endpoints: strings.Split(cfg.etcd, ",")})
	if err != nil {
		return err
	}
	defer func() { _ = etcd.Close() }()
	resolver, err := discovery.NewResolver(etcd, resolving(cfg)...)
	if err != nil {
		return err
	}
	defer func() { _ = resolver.Close() }()
	balancer, err := loadbalance.New(cfg.policy, loadbalance.WithKey(key))
	if err != nil {
		return err
	}
	var counts load.Counts
	calling := []client.Option{
		client.WithRPCTimeout(3 * time.Second),
		client.WithSuite(middleware.NewClientSuite(resolver, balancer)),
		client.WithInstanceMW(load.Middleware),
	}
	if cfg.otlp != "" {
		stop, err := telemetry.Export(ctx, "consumer", cfg.otlp)
		if err != nil {
			return err
		}
		defer stop()
		calling = append(calling, client.WithSuite(telemetry.ClientSuite(otel.GetTracerProvider())))
	}
	cli, err := echoservice.NewClient(cfg.service, calling...)
	if err != nil {
		return err
	}
	return makeCalls(ctx, cfg, resolver, cli, &counts)
}

func resolving(cfg config) (options []discovery.ResolverOption) {
	if cfg.snapshots != "" {
		options = append(options, discovery.WithSnapshotDir(cfg.snapshots))
	}
	if cfg.cluster != "" {
		options = append(options, discovery.WithCluster(cfg.cluster))
	}
	return options
}

// key is what consistent-hash goes by: the message. Other policies ignore it.
func key(_ context.Context, request any) string {
	if args, ok := request.(utils.KitexArgs); ok {
		if r, ok := args.GetFirstArgument().(*echo.Request); ok {
			return r.Message
		}
	}
	return ""
}
