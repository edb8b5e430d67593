// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package outlier

import (
	"math"
	"slices"
)

// spread returns the median of success rates and their standard deviation as
// estimated by the median distance from it. It sorts rates and uses distances,
// which it returns for use again.
func spread(rates, distances []float64) (median, stdev float64, _ []float64) {
	slices.Sort(rates)
	median = upper(rates)
	distances = distances[:0]
	for _, rate := range rates {
		distances = append(distances, math.Abs(rate-median))
	}
	slices.Sort(distances)
	return median, normal * lower(distances), distances
}

// normal is the standard deviation of a normal distribution by its median
// absolute deviation.
const normal = 1.4826

// lower and upper are the medians of sorted values; of an even number the lower or
// the upper of the two in the middle. The better of them is taken: where half of the
// hosts are bad, the others are the measure.
func lower(sorted []float64) float64 { return sorted[(len(sorted)-1)/2] }
func upper(sorted []float64) float64 { return sorted[len(sorted)/2] }

// never is how unlikely it must be that chance alone made a rate: the negative
// natural logarithm of one in a million.
const never = 13.8

// byChance reports whether that share of so many calls may have failed by chance
// where the probability of a failure is expected. The bound is Chernoff's: of n
// trials, k = share x n or more fail with a probability of at most exp(-n D), where
// D is the Kullback-Leibler divergence of the two.
func byChance(share, calls, expected float64) bool {
	if share <= expected {
		return true
	}
	return calls*divergence(share, expected) < never
}

func divergence(p, q float64) float64 {
	d := p * math.Log(p/q)
	if p < 1 {
		d += (1 - p) * math.Log((1-p)/(1-q))
	}
	return d
}
