// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"context"

	"github.com/cloudwego/kitex/pkg/rpcinfo"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/fairway-rpc/fairway/internal/pick"
)

// spanName has nothing in it that varies.
const spanName = "fairway.pick"

var _ pick.Observer = (*pickSpans)(nil)

// pickSpans makes a span of each pick that is wanted.
type pickSpans struct {
	tracer trace.Tracer
	all    bool
	roots  bool
}

// newPickSpans returns nil for PickSpansOff.
func newPickSpans(c *traceConfig) *pickSpans {
	if c.mode == PickSpansOff {
		return nil
	}
	return &pickSpans{
		tracer: c.tracerProvider().Tracer(ScopeName,
			trace.WithInstrumentationVersion(Version), trace.WithSchemaURL(semconv.SchemaURL)),
		all:   c.mode == PickSpansAll,
		roots: c.provider != nil,
	}
}

// noSpan is what a context without a span has.
var noSpan = trace.SpanFromContext(context.Background())

// Wants implements pick.Observer.
func (s *pickSpans) Wants(ctx context.Context) bool {
	if s.all {
		return true
	}
	parent := trace.SpanFromContext(ctx)
	if parent == noSpan { // the most frequent case, for the least
		return s.roots
	}
	if parent.IsRecording() {
		return true
	}
	sc := parent.SpanContext()
	return sc.IsSampled() || s.roots && !sc.IsValid()
}

// Picked implements pick.Observer. The span is made when all is known, so that
// a sampler sees its attributes; its times are those of the pick.
func (s *pickSpans) Picked(ctx context.Context, p *pick.Pick) {
	service, method := target(ctx)
	_, span := s.tracer.Start(ctx, spanName,
		trace.WithTimestamp(p.Start),
		trace.WithSpanKind(trace.SpanKindInternal),
		trace.WithAttributes(attributesOf(p, service, method)...))
	if p.Instance == nil {
		span.SetStatus(codes.Error, reason(p.Err))
	}
	span.End()
}

func target(ctx context.Context) (service, method string) {
	ri := rpcinfo.GetRPCInfo(ctx)
	if ri == nil || ri.To() == nil {
		return "", ""
	}
	return ri.To().ServiceName(), methodOf(ri)
}

// methodOf is the method's full logical name: [package.]Service/Method.
func methodOf(ri rpcinfo.RPCInfo) string {
	call := ri.Invocation()
	if call == nil {
		return ri.To().Method()
	}
	return joinMethod(call.PackageName(), call.ServiceName(), call.MethodName())
}

func reason(err error) string {
	if err == nil {
		return "the balancer returned no instance"
	}
	return err.Error()
}
