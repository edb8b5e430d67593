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
// # Filters
//
// [WithTagFilter], [WithZone] and [WithSubset] leave a group of the instances
// before the policy, and [WithAffinity] keeps a key with who was picked for it.
// Each group has a policy of its own, in which the calls in flight, latencies and
// failures of an instance count wherever they came from.
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
// # Instances that fail or are unhealthy
//
// [Balancer.Eject] and [Balancer.CheckHealth], which the suite's WithEjection and
// WithHealthCheck call, have calls avoid instances that fail, that are far slower
// than the others, or that do not pass checks. An ejected instance gets a new chance
// after its time, with health checks once it has passed one. Where nobody else is
// left calls go to them, unless [Ejection] says that they are to fail.
//
// # Concurrency and cost
//
// Everything exported here is safe for concurrent use. A pick takes no lock
// and allocates nothing, but for least-active and shortest-response, which hold one
// mutex for O(log n) steps, affinity, which holds one of sixteen for O(1), for retries, and for picks that come upon an instance which
// has just been set aside. Lists are rebuilt off the call path and swapped in
// whole.
//
// # Errors
//
// A picker can only return nil; Kitex then fails the call with its own
// ErrNoMoreInstance. Pick spans, and errors with the suite of package middleware,
// say which of [ErrEmpty], [ErrAllDrained], [ErrAllEjected], [ErrNoneInSubset] and
// [ErrNoKey] it was.
package loadbalance
