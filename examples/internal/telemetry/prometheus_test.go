// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package telemetry_test

import (
	"net"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/server"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	prometheusexporter "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/examples/internal/echohandler"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice"
	"github.com/fairway-rpc/fairway/loadbalance"
	"github.com/fairway-rpc/fairway/middleware"
)

// TestPrometheusNames are those that dashboards and alerts are written with.
func TestPrometheusNames(t *testing.T) {
	registry := prometheus.NewRegistry()
	exporter, err := prometheusexporter.New(prometheusexporter.WithRegisterer(registry), prometheusexporter.WithoutScopeInfo(), prometheusexporter.WithoutTargetInfo())
	if err != nil {
		t.Fatal(err)
	}
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter))
	defer func() { _ = provider.Shutdown(t.Context()) }()
	list := discovery.NewStatic()
	defer list.Close()
	if err := list.Add(measuredServer(t, middleware.WithMeterProvider(provider)), 10); err != nil {
		t.Fatal(err)
	}
	lb, err := loadbalance.New(loadbalance.SmoothWRR)
	if err != nil {
		t.Fatal(err)
	}
	cli, err := echoservice.NewClient("echo", client.WithSuite(middleware.NewClientSuite(list, lb,
		middleware.WithMeterProvider(provider), middleware.WithPickDuration())))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cli.Echo(t.Context(), &echo.Request{}); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range families {
		names = append(names, f.GetName())
	}
	want := []string{
		"fairway_client_active_calls",
		"fairway_client_pick_duration_seconds",
		"fairway_client_picks_total",
		"fairway_server_active_calls",
		"rpc_client_call_duration_seconds",
		"rpc_server_call_duration_seconds",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

// measuredServer is a provider whose etcd is down.
func measuredServer(t *testing.T, option middleware.ServerOption) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	etcd, err := discovery.Dial(discovery.EtcdConfig{Endpoints: []string{"127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	registry, err := discovery.NewRegistry(etcd, discovery.WithDrainDelay(0))
	if err != nil {
		t.Fatal(err)
	}
	exit, ended := make(chan error, 1), make(chan error, 1)
	s := echoservice.NewServer(&echohandler.Handler{Instance: "measured"}, server.WithListener(listener), server.WithExitWaitTime(time.Second/4),
		server.WithExitSignal(func() <-chan error { return exit }), server.WithSuite(middleware.NewServerSuite(registry, "echo", option)))
	go func() { ended <- s.Run() }()
	t.Cleanup(func() {
		exit <- nil
		if err := <-ended; err != nil {
			t.Log("the server ended with", err) // its etcd is down
		}
		_, _ = registry.Close(), etcd.Close()
	})
	return listener.Addr().String()
}
