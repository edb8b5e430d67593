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
	active   metric.Int64ObservableUpDownCounter
	calls    *sets
	services *sets
}

func newServerMetrics(c *metricsConfig) (*serverMetrics, error) {
	i := &instruments{meter: c.meter()}
	s := &serverMetrics{
		duration: i.seconds("rpc.server.call.duration", "How long calls took to handle.", callBounds),
		active:   i.active("fairway.server.active_calls", "Calls that are being handled, streams included."),
		calls:    newSets(callAttributes),
		services: newSets(func(m measured) []attribute.KeyValue {
			return []attribute.KeyValue{systemKitex, keyService.String(m.service)}
		}),
	}
	if i.err != nil {
		return nil, i.err
	}
	_, err := i.meter.RegisterCallback(s.observe, s.active) // for as long as the program serves
	return s, err
}

// observe is called at each collection.
func (s *serverMetrics) observe(_ context.Context, o metric.Observer) error {
	s.services.each(func(of *set) {
		if of != s.services.overflow || of.active.Load() != 0 {
			o.ObserveInt64(s.active, of.active.Load(), of.observe...)
		}
	})
	return nil
}

// measure is the middleware.
func (s *serverMetrics) measure(next endpoint.Endpoint) endpoint.Endpoint {
	return func(ctx context.Context, request, response any) error {
		if !s.duration.Enabled(ctx) {
			return next(ctx, request, response)
		}
		info := rpcinfo.GetRPCInfo(ctx)
		m := measured{service: serviceOf(info)}
		of := s.services.get(m)
		of.active.Add(1)
		if call := invocationOf(info); call != nil {
			m.pkg, m.idlService, m.method = call.PackageName(), call.ServiceName(), call.MethodName()
		}
		began, returned := time.Now(), false
		var err error
		defer func() {
			m.errorType = handlerError(ctx, info, err, !returned)
			of.active.Add(-1)
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
