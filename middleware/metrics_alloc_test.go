// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"context"
	"testing"

	"github.com/cloudwego/kitex/pkg/rpcinfo"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/fairway-rpc/fairway/internal/pick"
	"github.com/fairway-rpc/fairway/loadbalance"
)

// TestMeasuringAllocatesNothing, with an SDK and somebody who reads.
func TestMeasuringAllocatesNothing(t *testing.T) {
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
	defer func() { _ = provider.Shutdown(t.Context()) }()
	lb, err := loadbalance.New(loadbalance.SmoothWRR)
	if err != nil {
		t.Fatal(err)
	}
	m, err := newClientMetrics(&metricsConfig{provider: provider, pickDurations: true}, lb)
	if err != nil {
		t.Fatal(err)
	}
	ri := rpcinfo.NewRPCInfo(nil, rpcinfo.NewEndpointInfo("echo", "Echo", nil, nil), rpcinfo.NewInvocation("echo", "Echo"), nil, nil)
	attempt := pick.Begin(rpcinfo.NewCtxWithRPCInfo(context.Background(), ri))
	if n := testing.AllocsPerRun(1000, func() {
		attempt.Measured.Store(false)
		attempt.Picks = 1
		m.end(attempt, m.begin(attempt), nil, false)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
