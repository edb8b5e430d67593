// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package smoothwrr goes round weighted items smoothly: each gets its share,
// and its turns are spread as evenly as they can be.
//
// The order is exactly that of nginx's smooth weighted round robin (by M.
// Dounin, 2012): in each turn every item gains its weight, the one that has
// most gets the turn and pays the sum of all weights. Weights 5, 1, 1 give
// a a b a c a a. The order is computed in advance as a cycle, so that a turn is
// one atomic addition. Where the cycle would be too long to compute or keep,
// turns come from a low-discrepancy sequence instead.
package smoothwrr
