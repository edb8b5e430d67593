// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware_test

import (
	"math"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"

	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo"
	"github.com/fairway-rpc/fairway/idl/kitex_gen/fairway/echo/echoservice"
	"github.com/fairway-rpc/fairway/internal/echotest"
	"github.com/fairway-rpc/fairway/loadbalance"
	"github.com/fairway-rpc/fairway/middleware"
)

// BenchmarkCallPairs compares real calls on loopback with fixed hosts and with the
// suite, with metrics that are read: thirty pairs of runs that take turns, so that
// the machine's moods meet both. It reports by how many per cent the suite's
// calls take longer, in the mean, and the ends of its interval of 95 %.
func BenchmarkCallPairs(b *testing.B) {
	const pairs, calls = 30, 2000
	server := echotest.Start(b)
	option, _ := meter(b)
	bare := newClient(b, client.WithHostPorts(server.Address))
	suite := newClient(b, client.WithSuite(middleware.NewClientSuite(hosts(server.Address), balancer(b, loadbalance.SmoothWRR), option)))
	run := func(cli echoservice.Client) float64 {
		began := time.Now()
		for range calls {
			if _, err := cli.Echo(b.Context(), &echo.Request{Message: "hello"}); err != nil {
				b.Fatal(err)
			}
		}
		return time.Since(began).Seconds()
	}
	_, _ = run(bare), run(suite)
	for b.Loop() {
		var differences []float64
		for pair := range pairs {
			first, second := bare, suite
			if pair%2 == 1 {
				first, second = suite, bare
			}
			one, other := run(first), run(second)
			if pair%2 == 1 {
				one, other = other, one
			}
			differences = append(differences, 100*(other/one-1))
		}
		mean, half := interval(differences)
		b.ReportMetric(mean, "%longer")
		b.ReportMetric(mean-half, "%low")
		b.ReportMetric(mean+half, "%high")
	}
	b.ReportMetric(0, "ns/op")
}

// interval is the mean of thirty values and half the width of its interval of 95 %,
// by Student's distribution with 29 degrees of freedom.
func interval(values []float64) (mean, half float64) {
	const quantile = 2.045
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	variance := 0.
	for _, v := range values {
		variance += (v - mean) * (v - mean) / (n - 1)
	}
	return mean, quantile * math.Sqrt(variance/n)
}
