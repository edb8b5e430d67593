// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// sigmas is how far a share may be off: with independent picks, one check in
// sixteen thousand fails by chance.
const sigmas = 4

// checkShares tells whether calls by address fit the weights by address. With
// n calls, an instance's count has a binomial distribution with the
// probability p = weight / sum of weights, mean np, variance np(1-p).
func checkShares(calls, weights map[string]int) error {
	n, sum := 0, 0
	for address, c := range calls {
		if _, ok := weights[address]; !ok {
			return fmt.Errorf("%d calls to %s, which is no provider", c, address)
		}
		n += c
	}
	for _, w := range weights {
		sum += w
	}
	for _, address := range slices.Sorted(maps.Keys(weights)) {
		p := float64(weights[address]) / float64(sum)
		mean := float64(n) * p
		limit := sigmas * math.Sqrt(mean*(1-p))
		if off := math.Abs(float64(calls[address]) - mean); off > limit {
			return fmt.Errorf("%s got %d of %d calls; its weight %d of %d makes %.0f, and %d standard deviations are %.0f",
				address, calls[address], n, weights[address], sum, mean, sigmas, limit)
		}
	}
	return nil
}
