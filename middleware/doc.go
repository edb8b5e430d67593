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
// flight on each instance from the pick to their real end, and starts a span
// for each pick. [TracePicks] gives the span alone to any Kitex balancer.
//
// # The pick span
//
// Its name is "fairway.pick", its kind internal, its parent the RPC's client
// span. It needs the OpenTelemetry API only: without an SDK in the program
// nothing is recorded and next to nothing spent. Its attributes stand in
// attributes.go.
//
// # Concurrency
//
// Everything exported here is safe for concurrent use.
package middleware
