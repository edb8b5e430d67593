// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package load makes calls at a steady rate and counts where they went.
//
// A [Generator] paces the calls, a [Counts] takes part in them through
// [Middleware], and a [Tally] is what Counts has counted at one moment; the
// difference of two tells an interval. [Phases] tell calls apart by when they
// began instead, which is exact at a change.
package load
