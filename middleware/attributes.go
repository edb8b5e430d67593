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

// The attributes of a pick span besides OpenTelemetry's own rpc.method,
// network.peer.address, network.peer.port and, on failure, error.type.
const (
	// keyPolicy (string): the policy's name, or a foreign balancer's.
	keyPolicy = attribute.Key("fairway.policy")
	// keyService (string): the service that is called.
	keyService = attribute.Key("fairway.service")
	// keyCandidates (int): how many instances could have been picked.
	keyCandidates = attribute.Key("fairway.candidates")
	// keyWeight (int): the chosen instance's weight.
	keyWeight = attribute.Key("fairway.weight")
	// keyInFlight (int): calls under way on the chosen instance before this
	// one. Only where they are counted.
	keyInFlight = attribute.Key("fairway.in_flight")
	// keyAttempt (int): 0 for the first attempt of a call, then Kitex's number
	// of the retry.
	keyAttempt = attribute.Key("fairway.attempt")
	// keyExcluded (int): instances passed over because they had just failed.
	// Only if there were any.
	keyExcluded = attribute.Key("fairway.excluded")
	// keyAside (int): candidates that calls avoid for a while since they gave no
	// connection. Only if there are any.
	keyAside = attribute.Key("fairway.aside")
	// keySuspect (bool): true if the chosen instance has vanished from the
	// registry without saying so and is kept on suspicion. Absent otherwise.
	keySuspect = attribute.Key("fairway.suspect")
	// keyRevision (int), keyAge (double, seconds), keyStale (bool) and
	// keySource (string) describe the live snapshot. Only if there is one.
	keyRevision = attribute.Key("fairway.snapshot.revision")
	keyAge      = attribute.Key("fairway.snapshot.age")
	keyStale    = attribute.Key("fairway.snapshot.stale")
	keySource   = attribute.Key("fairway.snapshot.source")
	// keySuspects (int): the instances of the snapshot that are kept on suspicion.
	// Only if there are any.
	keySuspects = attribute.Key("fairway.snapshot.suspects")
)

// maxAttributes is the most that one pick can have.
const maxAttributes = 17

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
