// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package faulttest

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"
	clientv3 "go.etcd.io/etcd/client/v3"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/internal/etcdtest"
	"github.com/fairway-rpc/fairway/loadbalance"
)

// balance makes the process a consumer with all that one has by default, disk
// copy and metrics included, and a smooth-wrr balancer that is in use.
func (g *gaugeProcess) balance() error {
	dir, err := os.MkdirTemp("", "fairway-gauge")
	if err != nil {
		return err
	}
	reader := sdkmetric.NewManualReader()
	res, err := discovery.NewResolver(g.cli, discovery.WithSnapshotDir(dir),
		discovery.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))))
	if err != nil {
		return err
	}
	if _, err := res.Resolve(context.Background(), service); err != nil {
		return err
	}
	_, _ = g.resolver.Close(), g.registry.Close() // one consumer is measured
	g.resolver = res
	lb, err := loadbalance.New(loadbalance.SmoothWRR)
	if err != nil {
		return err
	}
	go func() { // as long as the process lives
		result := kdiscovery.Result{Cacheable: true, CacheKey: res.Name() + ":" + service}
		var data metricdata.ResourceMetrics
		for i := 0; ; i++ { // in bursts, so that waking up is not what is measured
			for range 100 {
				lb.GetPicker(result).Next(context.Background(), nil)
			}
			if i%10 == 0 {
				_ = reader.Collect(context.Background(), &data)
			}
			time.Sleep(100 * time.Millisecond)
		}
	}()
	return nil
}

// BenchmarkSteadyState is what a consumer of a thousand instances uses while a
// hundred of them change every second: per cent of one core over ten seconds,
// and its heap. A thousand picks a second keep the balancer in use.
func BenchmarkSteadyState(b *testing.B) {
	const instances, perSecond = 1000, 100
	etcd := etcdtest.Start(b)
	cli := etcd.Client(b)
	for i := range instances {
		changeWeight(b, cli, i, 1+i%10)
	}
	g := startGauge(b, configOf(etcd))
	g.does("balance")
	tick := time.NewTicker(time.Second / perSecond)
	defer tick.Stop()
	changes := 0
	change := func(n int) {
		for range n {
			<-tick.C
			changeWeight(b, cli, changes%instances, 11+changes%7)
			changes++
		}
	}
	for b.Loop() {
		change(3 * perSecond) // until the disk copy is in its rhythm
		before, began := g.does("collect"), time.Now()
		change(10 * perSecond)
		took := time.Since(began)
		after := g.does("look")
		b.ReportMetric(100*(after.Processor-before.Processor).Seconds()/took.Seconds(), "%core")
		b.ReportMetric(float64(g.does("collect").Heap)/(1<<20), "MiB")
		b.ReportMetric(0, "ns/op")
	}
}

func changeWeight(b *testing.B, cli *clientv3.Client, i, weight int) {
	b.Helper()
	address := fmt.Sprintf("10.0.%d.%d:8888", i>>8, i&255)
	record := fmt.Sprintf(`{"network":"tcp","address":%q,"weight":%d,"tags":{"zone":"zone-%d","version":"v1.%d"}}`, address, weight, i%3, i%7)
	if _, err := cli.Put(b.Context(), "fairway/echo/"+address, record); err != nil {
		b.Fatal(err)
	}
}
