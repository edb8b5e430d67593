// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"context"
	"errors"
	"time"

	"github.com/cloudwego/kitex/pkg/endpoint"
	"github.com/cloudwego/kitex/pkg/rpcinfo"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// serverMetrics measures the calls that a provider answers. A stream is one call,
// from its beginning to the handler's return.
type serverMetrics struct {
	duration metric.Float64Histogram
	active   metric.Int64UpDownCounter
	calls    *sets
	services *sets
}

func newServerMetrics(c *metricsConfig) (*serverMetrics, error) {
	i := &instruments{meter: c.meter()}
	return &serverMetrics{
		duration: i.seconds("rpc.server.call.duration", "How long calls took to handle.", callBounds),
		active:   i.active("fairway.server.active_calls", "Calls that are being handled, streams included."),
		calls:    newSets(callAttributes),
		services: newSets(func(m measured) []attribute.KeyValue {
			return []attribute.KeyValue{systemKitex, keyService.String(m.service)}
		}),
	}, i.err
}

// measure is the middleware.
func (s *serverMetrics) measure(next endpoint.Endpoint) endpoint.Endpoint {
	return func(ctx context.Context, request, response any) error {
		if !s.duration.Enabled(ctx) {
			return next(ctx, request, response)
		}
		info := rpcinfo.GetRPCInfo(ctx)
		m := measured{service: serviceOf(info)}
		active := s.services.get(m).add
		s.active.Add(ctx, 1, active...)
		if call := invocationOf(info); call != nil {
			m.pkg, m.idlService, m.method = call.PackageName(), call.ServiceName(), call.MethodName()
		}
		began, returned := time.Now(), false
		var err error
		defer func() {
			m.errorType = handlerError(ctx, info, err, !returned)
			s.active.Add(ctx, -1, active...)
			s.duration.Record(ctx, time.Since(began).Seconds(), s.calls.get(m).record...)
		}()
		err = next(ctx, request, response)
		returned = true
		return err
	}
}

// handlerError is how a call failed, in one of few words, "" if it did not.
func handlerError(ctx context.Context, info rpcinfo.RPCInfo, err error, panicked bool) string {
	switch {
	case panicked:
		return "panic"
	case isBusiness(info):
		return "business"
	case err == nil:
		return ""
	case errors.Is(err, context.Canceled) || errors.Is(ctx.Err(), context.Canceled):
		return "cancelled"
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "timeout"
	}
	return "handler"
}
