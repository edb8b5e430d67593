// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package health asks targets whether they are well: active health checks. A
// [Checker] checks each target at an interval, with some jitter, and reports when
// several checks in a row have changed the verdict on it. A target is healthy until
// proven otherwise.
//
// However many targets there are, one goroutine plans and at most so many check at
// a time; with no target there is none. When checks take so long that the interval
// cannot be kept, it stretches for all alike, but targets known to be unhealthy,
// whose checks often run into the timeout, use at most half of the slots. A check
// that fails for want of something in this process, such as a file descriptor, says
// nothing about its target and does not count.
//
// [TCP] and [HTTPGet] are checks for everyday use; any function will do.
package health
