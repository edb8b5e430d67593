// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"context"

	"github.com/bytedance/gopkg/cloud/metainfo"
	"github.com/cloudwego/kitex/pkg/endpoint"
	"github.com/cloudwego/kitex/pkg/transmeta"
	"github.com/cloudwego/kitex/server"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// ServerSuite makes a server span for each call, as a child of the client span
// that [ClientSuite] sent.
func ServerSuite(provider trace.TracerProvider) server.Suite {
	return serverSuite{tracer: newTracer(provider)}
}

type serverSuite struct{ tracer trace.Tracer }

// String is what Kitex prints of the suite.
func (serverSuite) String() string { return scope }

// Options implements server.Suite.
func (s serverSuite) Options() []server.Option {
	return []server.Option{
		server.WithMetaHandler(transmeta.ServerTTHeaderHandler),
		server.WithMiddleware(s.middleware),
	}
}

func (s serverSuite) middleware(next endpoint.Endpoint) endpoint.Endpoint {
	return func(ctx context.Context, request, response any) error {
		carrier := propagation.MapCarrier{}
		for _, key := range propagator.Fields() {
			if value, ok := metainfo.GetValue(ctx, key); ok {
				carrier[key] = value
			}
		}
		method := methodOf(ctx)
		ctx, span := s.tracer.Start(propagator.Extract(ctx, carrier), method,
			trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attributesOf(method)...))
		defer span.End()
		return noteError(span, next(ctx, request, response))
	}
}
