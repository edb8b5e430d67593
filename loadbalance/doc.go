// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package loadbalance chooses which instance of a service gets a call.
//
// A [Balancer] carries out one policy and plugs into any Kitex client:
//
//	lb, err := loadbalance.New(loadbalance.SmoothWRR)
//	cli, err := echo.NewClient("echo", client.WithResolver(res), client.WithLoadBalancer(lb))
//
// With Fairway's resolver it follows the live snapshot; with any other resolver
// it picks from the list that Kitex refreshes every five seconds. The suite of
// package middleware adds exact counts of the calls in flight and pick spans.
//
// # Policies
//
// [WeightedRandom], [SmoothWRR], [ConsistentHash] and [LeastActive]; [Policies]
// lists them. An instance of weight 0, or one that does not serve, gets no
// calls from any of them. A retry avoids the instances that have just failed
// as long as there are others.
//
// # Concurrency and cost
//
// Everything exported here is safe for concurrent use. A pick takes no lock
// and allocates nothing, but for least-active, which holds one mutex for
// O(log n) steps, and for retries. Lists are rebuilt off the call path and
// swapped in whole.
//
// # Errors
//
// A picker can only return nil; Kitex then fails the call with its own
// ErrNoMoreInstance. Pick spans say which of [ErrEmpty], [ErrAllDrained] and
// [ErrNoKey] it was.
package loadbalance
