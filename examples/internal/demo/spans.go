// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// pickSpan is the name of the spans that are printed.
const pickSpan = "fairway.pick"

// newTracerProvider prints pick spans as they end.
func newTracerProvider(s Spans, out *console) *sdktrace.TracerProvider {
	root := sdktrace.AlwaysSample()
	if s.PerSecond > 0 {
		root = &rateSampler{every: time.Second / time.Duration(s.PerSecond)}
	}
	return sdktrace.NewTracerProvider(
		sdktrace.WithSampler(sdktrace.ParentBased(root)),
		sdktrace.WithSyncer(printer{out}),
	)
}

// rateSampler samples a trace if the last one is long enough ago.
type rateSampler struct {
	every time.Duration
	next  atomic.Int64 // Unix time in nanoseconds
}

// ShouldSample implements sdktrace.Sampler.
func (s *rateSampler) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	result := sdktrace.SamplingResult{
		Decision:   sdktrace.Drop,
		Tracestate: trace.SpanContextFromContext(p.ParentContext).TraceState(),
	}
	now, next := time.Now().UnixNano(), s.next.Load()
	if now >= next && s.next.CompareAndSwap(next, now+s.every.Nanoseconds()) {
		result.Decision = sdktrace.RecordAndSample
	}
	return result
}

// Description implements sdktrace.Sampler.
func (s *rateSampler) Description() string { return fmt.Sprintf("one per %v", s.every) }

// printer is an exporter that prints.
type printer struct{ out *console }

// ExportSpans implements sdktrace.SpanExporter.
func (p printer) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	for _, s := range spans {
		if s.Name() == pickSpan {
			p.out.say("%s", describe(s))
		}
	}
	return nil
}

// Shutdown implements sdktrace.SpanExporter.
func (printer) Shutdown(context.Context) error { return nil }

// describe leaves out the part of the attributes' names that all have.
func describe(s sdktrace.ReadOnlySpan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "span %s %v trace=%s parent=%s", s.Name(), s.EndTime().Sub(s.StartTime()),
		s.SpanContext().TraceID(), s.Parent().SpanID())
	for _, a := range s.Attributes() {
		fmt.Fprintf(&b, " %s=%s", strings.TrimPrefix(string(a.Key), "fairway."), a.Value.String())
	}
	return b.String()
}
