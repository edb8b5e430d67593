// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Provider serves the Echo service of idl/echo.thrift and registers itself in
// etcd. Start several on one machine with different -listen addresses:
//
//	go -C examples run ./provider -listen 127.0.0.1:8888 -weight 20
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"

	"github.com/cloudwego/kitex/server"
	"go.opentelemetry.io/otel"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/examples/internal/echohandler"
	"github.com/fairway-rpc/fairway/examples/internal/telemetry"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice"
	"github.com/fairway-rpc/fairway/middleware"
)

func main() {
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, nil)))
	cfg, err := parse(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintf(os.Stderr, "provider: %v\n", err)
		os.Exit(2)
	}
	if err := run(cfg); err != nil {
		slog.Error("the provider has failed", "error", err)
		os.Exit(1)
	}
}

// run serves until SIGINT or SIGTERM. Kitex then deregisters, which takes the
// drain delay, waits for calls under way and closes the listener.
func run(cfg config) error {
	exit := exitInOrder()
	address, err := net.ResolveTCPAddr("tcp", cfg.listen)
	if err != nil {
		return fmt.Errorf("-listen: %w", err)
	}
	etcd, err := discovery.Dial(discovery.EtcdConfig{Endpoints: strings.Split(cfg.etcd, ",")})
	if err != nil {
		return err
	}
	defer func() { _ = etcd.Close() }()
	var registering []discovery.RegistryOption
	if cfg.advertise != "" {
		registering = append(registering, discovery.WithAdvertise(cfg.advertise))
	}
	registry, err := discovery.NewRegistry(etcd, registering...)
	if err != nil {
		return err
	}
	defer func() { _ = registry.Close() }()
	serving := []server.Option{
		exit,
		server.WithServiceAddr(address),
		server.WithSuite(middleware.NewServerSuite(registry, cfg.service, middleware.WithWeight(cfg.weight))),
	}
	if cfg.otlp != "" {
		stop, err := telemetry.Export(context.Background(), cfg.service, cfg.otlp)
		if err != nil {
			return err
		}
		defer stop()
		serving = append(serving, server.WithSuite(telemetry.ServerSuite(otel.GetTracerProvider())))
	}
	slog.Info("serving", "service", cfg.service, "listen", cfg.listen, "weight", cfg.weight)
	return echoservice.NewServer(&echohandler.Handler{Instance: name(cfg)}, serving...).Run()
}

// name is what this provider calls itself in its answers.
func name(cfg config) string {
	if cfg.advertise != "" {
		return cfg.advertise
	}
	host, err := os.Hostname()
	if err != nil {
		return cfg.listen
	}
	return host + " at " + cfg.listen
}
