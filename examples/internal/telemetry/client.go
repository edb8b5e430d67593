// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"context"

	"github.com/bytedance/gopkg/cloud/metainfo"
	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/endpoint"
	"github.com/cloudwego/kitex/pkg/rpcinfo"
	"github.com/cloudwego/kitex/pkg/transmeta"
	"github.com/cloudwego/kitex/transport"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

const scope = "github.com/fairway-rpc/fairway/examples/internal/telemetry"

// propagator writes W3C's traceparent.
var propagator = propagation.TraceContext{}

// ClientSuite makes a client span for each attempt of a call, above Kitex's
// resolver and therefore above the pick, and sends its context to the server in
// Kitex's TTHeader. A stream's span ends when the stream has been opened.
func ClientSuite(provider trace.TracerProvider) client.Suite {
	return clientSuite{tracer: newTracer(provider)}
}

func newTracer(provider trace.TracerProvider) trace.Tracer {
	return provider.Tracer(scope, trace.WithSchemaURL(semconv.SchemaURL))
}

type clientSuite struct{ tracer trace.Tracer }

// String is what Kitex prints of the suite.
func (clientSuite) String() string { return scope }

// Options implements client.Suite.
func (s clientSuite) Options() []client.Option {
	return []client.Option{
		client.WithTransportProtocol(transport.TTHeader),
		client.WithMetaHandler(transmeta.ClientTTHeaderHandler),
		client.WithMiddleware(s.middleware),
	}
}

func (s clientSuite) middleware(next endpoint.Endpoint) endpoint.Endpoint {
	return func(ctx context.Context, request, response any) error {
		method := methodOf(ctx)
		ctx, span := s.tracer.Start(ctx, method,
			trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributesOf(method)...))
		defer span.End()
		carrier := propagation.MapCarrier{}
		propagator.Inject(ctx, carrier)
		var pairs []string
		for key, value := range carrier {
			pairs = append(pairs, key, value)
		}
		return noteError(span, next(metainfo.WithValues(ctx, pairs...), request, response))
	}
}

// methodOf is the full name of the method, such as EchoService/Echo.
func methodOf(ctx context.Context) string {
	call := rpcinfo.GetRPCInfo(ctx).Invocation()
	return call.ServiceName() + "/" + call.MethodName()
}

func attributesOf(method string) []attribute.KeyValue {
	return []attribute.KeyValue{semconv.RPCSystemNameKey.String("kitex"), semconv.RPCMethod(method)}
}

func noteError(span trace.Span, err error) error {
	if err != nil {
		span.SetStatus(codes.Error, err.Error())
		span.SetAttributes(semconv.ErrorType(err))
	}
	return err
}
