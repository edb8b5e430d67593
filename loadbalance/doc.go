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
// [Policies] lists them, and the constants say what each does. An instance of
// weight 0, or one that does not serve, gets no calls from any of them. A retry
// avoids the instances that have just failed as long as there are others. An
// instance that warms up has a share that grows with its age; the policies that
// hash do so only with [WithHashWarmUp], since keys would move.
//
// [PerMethod] leaves each method's calls to a balancer of its own, [Register]
// makes other policies known, and [Selector] is the same without Kitex.
// [Balancer.State] tells what a balancer knows.
//
// # Instances that give no connection
//
// An instance that a call gets no connection to is set aside: calls avoid it for
// a second, and for twice as long after each trial that fails, up to thirty
// seconds, give or take a tenth. When the time is over one call is let through;
// if that gets no connection either, Kitex retries it elsewhere. An answer ends
// it, and the next failure begins at a second again. Where all instances are
// aside, calls go to them all the same. The state is kept per balancer, resolver
// and service. An instance keeps its place on a hash ring meanwhile: only its own
// keys go to the next.
//
// With the suite of package middleware outcomes are known. Without it the only
// sign is that Kitex picks again within an attempt, also for a circuit breaker's
// rejection. That a trial was answered is not seen then: an instance is back a
// second after it unless a failure shows, and one that shows soon after that
// makes the time grow on. Nor is anything told about suspects, the instances that
// a resolver keeps though they have vanished from the registry.
//
// # Concurrency and cost
//
// Everything exported here is safe for concurrent use. A pick takes no lock
// and allocates nothing, but for least-active and shortest-response, which hold one
// mutex for O(log n) steps, for retries, and for picks that come upon an instance which
// has just been set aside. Lists are rebuilt off the call path and swapped in
// whole.
//
// # Errors
//
// A picker can only return nil; Kitex then fails the call with its own
// ErrNoMoreInstance. Pick spans say which of [ErrEmpty], [ErrAllDrained] and
// [ErrNoKey] it was.
package loadbalance
