// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package pace keeps what an item's calls have shown lately: how long a call
// takes, and apart from that how many fail, both as averages in which what was
// known counts for 1/e after [Tau].
//
// Latency is averaged plainly, or as Finagle's load balancer does (Twitter, "Peak
// EWMA"): a call that took longer than the estimate becomes it at once. An item
// of which nothing is known starts at the mean of the others, and no call counts
// for more than [Surprise] times the estimate, so that one slow call, be it the
// first, does not put an item out of use.
//
// Failures do not enter the latency. Few of them cost nothing, since they may be
// anybody's; an item most of whose calls fail is as good as gone. What an item
// shows after it was not called for a while counts for half of what is known: it
// was tried to find out.
//
// All functions are O(1), take no lock and allocate nothing.
package pace
