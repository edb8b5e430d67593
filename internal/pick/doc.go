// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package pick is the seam between the balancers (package loadbalance) and
// what stands around a call (package middleware).
//
// The suite's outer middleware puts an [Attempt] into the context, the
// balancer writes into it whom it picked, and the suite's instance middleware
// counts the call on that node until it really ends and tells the node its
// [Outcome]. An [Observer] sees picks.
package pick
