// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package weight carries a weight of zero through Kitex, which replaces a zero
// in registry.Info by its default of 10 before a registry sees it.
package weight

import "math"

// Zero in the Weight of Kitex's registry.Info stands for a weight of zero.
const Zero = math.MinInt32
