// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package hashring

import "math"

const (
	// perWeight is the weight that has the full number of virtual nodes:
	// Kitex's default.
	perWeight = 10
	// maxPoints bounds a ring's memory: to 28 MiB, or 36 while somebody does not
	// serve.
	maxPoints = 1 << 21
)

// shares is the number of points of each weight: virtual nodes in proportion,
// at least one for a weight above 0. While they are too many in all, everybody's
// share is halved, so that it depends on the present weights alone. More items
// than maxPoints have one point each.
func shares(weights []uint64, virtualNodes uint64) []uint32 {
	halvings := 0
	for sumOfShares(weights, virtualNodes, halvings) > max(maxPoints, uint64(len(weights))) {
		halvings++
	}
	points := make([]uint32, len(weights))
	for i, w := range weights {
		points[i] = uint32(share(w, virtualNodes, halvings))
	}
	return points
}

func share(weight, virtualNodes uint64, halvings int) uint64 {
	if weight == 0 {
		return 0
	}
	return max(1, weight*virtualNodes/perWeight>>halvings)
}

// sumOfShares stops early: beyond the bound only that it is beyond counts.
func sumOfShares(weights []uint64, virtualNodes uint64, halvings int) uint64 {
	sum := uint64(0)
	for _, w := range weights {
		if sum += share(w, virtualNodes, halvings); sum > math.MaxInt64 {
			return sum
		}
	}
	return sum
}
