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
// divisor, is above 2^22, a shorter table takes its place, with places in it
// whose owners change from round to round. What it guarantees:
//
//   - Any 1,000,000 turns in a row give each item its exact share, give or take
//     2.9 turns.
//   - Any shorter stretch does, give or take 5.1 turns; over weights of many kinds
//     tests see no more than four.
//   - In the long run the shares are exact, also those far below 1 in a million.
//
// Memory is O(n) and the table's 4 bytes a turn: at most 8 MiB for nginx's cycle
// (of two items), and 250 kB for the other up to 31,250 items, 4 MB above.
package smoothwrr
