// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"net"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/fairway-rpc/fairway/internal/pick"
)

// The attributes of a pick span besides OpenTelemetry's own. What each means, its
// type and when it is there stand in one table, in docs/observability.md, which a
// test compares with what is emitted.
const (
	keyPolicy     = attribute.Key("fairway.policy")
	keyService    = attribute.Key("fairway.service")
	keyCandidates = attribute.Key("fairway.candidates")
	keyWeight     = attribute.Key("fairway.weight")
	keyInFlight   = attribute.Key("fairway.in_flight")
	keyAttempt    = attribute.Key("fairway.attempt")
	keyExcluded   = attribute.Key("fairway.excluded")
	keySubset     = attribute.Key("fairway.subset")
	keyAside      = attribute.Key("fairway.aside")
	keySuspect    = attribute.Key("fairway.suspect")
	keyRevision   = attribute.Key("fairway.snapshot.revision")
	keyAge        = attribute.Key("fairway.snapshot.age")
	keyStale      = attribute.Key("fairway.snapshot.stale")
	keySource     = attribute.Key("fairway.snapshot.source")
	keySuspects   = attribute.Key("fairway.snapshot.suspects")
)

// maxAttributes is the most that one pick can have.
const maxAttributes = 18

func attributesOf(p *pick.Pick, service, method string) []attribute.KeyValue {
	attempt, err := strconv.Atoi(p.Retry)
	if err != nil {
		attempt = 0
	}
	attrs := make([]attribute.KeyValue, 0, maxAttributes)
	attrs = append(attrs,
		keyPolicy.String(p.Policy),
		keyCandidates.Int(p.Candidates),
		keyAttempt.Int(attempt),
	)
	if service != "" {
		attrs = append(attrs, keyService.String(service), semconv.RPCMethod(method))
	}
	if p.Excluded > 0 {
		attrs = append(attrs, keyExcluded.Int(p.Excluded))
	}
	if p.Subset != "" {
		attrs = append(attrs, keySubset.String(p.Subset))
	}
	if p.Aside > 0 {
		attrs = append(attrs, keyAside.Int(p.Aside))
	}
	if p.Live {
		attrs = append(attrs, keyRevision.Int64(p.Revision), keyAge.Float64(p.Age.Seconds()),
			keyStale.Bool(p.Stale), keySource.String(p.Source))
		if p.Suspects > 0 {
			attrs = append(attrs, keySuspects.Int(p.Suspects))
		}
	}
	return appendChosen(attrs, p)
}

func appendChosen(attrs []attribute.KeyValue, p *pick.Pick) []attribute.KeyValue {
	if p.Instance == nil {
		return append(attrs, semconv.ErrorTypeKey.String(errorType(p.Err)))
	}
	attrs = append(attrs, keyWeight.Int(p.Weight))
	if p.Suspect {
		attrs = append(attrs, keySuspect.Bool(true))
	}
	if p.Counts {
		attrs = append(attrs, keyInFlight.Int64(p.InFlight))
	}
	address := p.Instance.Address()
	if address == nil {
		return attrs
	}
	host, port, err := net.SplitHostPort(address.String())
	if err != nil { // a Unix socket
		return append(attrs, semconv.NetworkPeerAddress(address.String()))
	}
	attrs = append(attrs, semconv.NetworkPeerAddress(host))
	if n, err := strconv.Atoi(port); err == nil {
		attrs = append(attrs, semconv.NetworkPeerPort(n))
	}
	return attrs
}
