// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// Export sends the spans of the global TracerProvider, which it sets, to an
// OTLP receiver over gRPC. The endpoint is host:port, which is not encrypted,
// or a URL with the scheme http or https. The service names this program. All
// spans are sampled unless OTEL_TRACES_SAMPLER says otherwise. A receiver that
// does not answer is no error. Stop sends what is left, for three seconds at
// most, and ends the export.
func Export(ctx context.Context, service, endpoint string) (stop func(), err error) {
	target, err := targetOf(endpoint)
	if err != nil {
		return nil, err
	}
	exporter, err := otlptracegrpc.New(ctx, otlptracegrpc.WithEndpointURL(target))
	if err != nil {
		return nil, fmt.Errorf("OTLP exporter: %w", err)
	}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(exporter),
		sdktrace.WithResource(resource.NewWithAttributes(semconv.SchemaURL, semconv.ServiceName(service))),
	)
	otel.SetTracerProvider(provider)
	return func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		if err := provider.Shutdown(ending); err != nil {
			slog.Warn("spans may be lost", "error", err)
		}
	}, nil
}

const stopTimeout = 3 * time.Second

func targetOf(endpoint string) (string, error) {
	if !strings.Contains(endpoint, "://") {
		endpoint = "http://" + endpoint
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return "", fmt.Errorf("OTLP endpoint: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("OTLP endpoint %q: the scheme is neither http nor https", endpoint)
	}
	if _, _, err := net.SplitHostPort(u.Host); err != nil {
		return "", fmt.Errorf("OTLP endpoint %q: %w", endpoint, err)
	}
	return endpoint, nil
}
