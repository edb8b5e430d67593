// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package smoothwrr goes round weighted items smoothly: each gets its share,
// and its turns are spread as evenly as they can be.
//
// The order is exactly that of nginx's smooth weighted round robin (by M.
// Dounin, 2012): in each turn every item gains its weight, the one that has
// most gets the turn and pays the sum of all weights. Weights 5, 1, 1 give
// a a b a c a a. The order is written down in advance as one cycle, so that a
// turn is one atomic addition and a look into a table.
//
// Where that cycle would be too long to compute and keep, which is where the
// number of items times the sum of the weights, divided by their greatest common
// divisor, is above 2^22, there is no table: the items lie on a circle, each an
// arc as long as its share, and each turn goes a fixed step further round
// (H. Weyl's equidistribution, 1916). Any 1,000,000 turns in a row give each
// item its exact share, give or take two; any shorter stretch does, give or take
// seven; and in the long run the shares are exact, however small.
//
// The same takes the place of a cycle that is worth computing, but not while
// weights are changing: above 2^14 steps it is laid out when there is time for it.
//
// Memory is O(n) and 4 bytes for each turn of nginx's cycle, at most 8 MiB (for
// two items).
package smoothwrr
