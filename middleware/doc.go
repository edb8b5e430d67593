// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package middleware joins who is there (package discovery) with who is picked
// (package loadbalance) around Kitex's calls.
//
// A consumer adds one client option, a provider one server option:
//
//	client.WithSuite(middleware.NewClientSuite(resolver, balancer))
//	server.WithSuite(middleware.NewServerSuite(registry, "echo"))
//
// The client suite sets the resolver and the balancer, counts the calls in
// flight on each instance from the pick to their real end, that of streams included,
// tells how they ended, starts a span for each pick, measures calls, and says in
// errors why there was no instance. [WithEjection] and [WithHealthCheck] set
// instances aside that fail, are slow or unhealthy. The server suite sets the
// registry and what is registered, measures calls, and drains while a check of
// [WithReadiness] fails. [TracePicks] gives the span alone to any Kitex
// balancer.
//
// # Outcomes
//
// How an attempt ended is judged in outcome.go. A failure of the instance is:
// no connection, no answer in time, a connection that broke. None is: any answer,
// also a business error or an exception; a call that the caller cancelled; a
// rejection by a circuit breaker or a limit on this side; a lack of files or ports
// of this process; an error of a middleware further down, which does not have the
// mark of Kitex's transports: a client's own error handler should keep it, by
// kerrors.ErrRemoteOrNetwork.WithCause. Of a one-way call only its connection
// counts, of a stream only its opening, and of a call that panicked nothing. The
// balancer avoids for a while who gives no connection (see package loadbalance),
// and a resolver that keeps an instance on suspicion is told of calls to it: two
// failed ones in a row are enough to drop it, where those that were under way
// together when a connection broke count as one.
//
// # The pick span
//
// Its name is "fairway.pick", its kind internal, its parent the RPC's client
// span. It needs the OpenTelemetry API only: without an SDK in the program
// nothing is recorded and next to nothing spent. Its attributes stand in
// docs/observability.md. [WithPickLog] writes the same to a log.
//
// # Metrics
//
// Calls are measured on both sides by the semantic conventions' histograms, and
// picks, calls under way, fallbacks and ejections by metrics of Fairway's own, whether
// or not there is a trace. docs/observability.md lists them.
//
// # Kitex's own tools
//
// The client suite registers probes with the client's diagnosis service, and
// dispatches Kitex's change event on its event bus as soon as the live list
// changes, so that pools close the connections to instances that are gone.
//
// # Concurrency
//
// Everything exported here is safe for concurrent use.
package middleware
