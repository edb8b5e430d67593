// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"testing"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/fairway-rpc/fairway/loadbalance"
)

// TestClosedClientsAreNotReadAnyMore: the provider of metrics outlives them.
func TestClosedClientsAreNotReadAnyMore(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	defer func() { _ = provider.Shutdown(t.Context()) }()
	lb, err := loadbalance.New(loadbalance.SmoothWRR)
	if err != nil {
		t.Fatal(err)
	}
	m, err := newClientMetrics(&metricsConfig{provider: provider}, lb)
	if err != nil {
		t.Fatal(err)
	}
	m.outcomes.get(measured{service: "echo"}).count.Add(1)
	read := func() (n int) {
		var data metricdata.ResourceMetrics
		if err := reader.Collect(t.Context(), &data); err != nil {
			t.Fatal(err)
		}
		for _, s := range data.ScopeMetrics {
			n += len(s.Metrics)
		}
		return n
	}
	m.open()
	m.open()
	if read() == 0 {
		t.Error("nothing is read of two clients")
	}
	_ = m.close()
	if read() == 0 {
		t.Error("nothing is read while one of two clients is open")
	}
	_ = m.close()
	if n := read(); n != 0 {
		t.Errorf("%d metrics are read of closed clients", n)
	}
}
