// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package alias draws items at random by weight in constant time: the alias
// method of M. D. Vose, "A linear algorithm for generating random numbers with
// a given distribution", IEEE Transactions on Software Engineering 17 (1991),
// in integers, so that no probability is off by more than n/2^64.
package alias
