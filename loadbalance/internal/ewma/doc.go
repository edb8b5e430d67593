// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package ewma estimates how long a call to an item takes, by averages in which
// what was known counts for 1/e after [Tau].
//
// One is plain; the other is that of Finagle's load balancer (Twitter, "Peak
// EWMA"), in which a call that took longer than the estimate becomes it at once.
// In both a failure counts as a call of a second, or as long as it took, and the
// next success takes its place: who has failed should not be called, and once it
// answers need not make up for it.
//
// All functions are O(1), take no lock and allocate nothing.
package ewma
