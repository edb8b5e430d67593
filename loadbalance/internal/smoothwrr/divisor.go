// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package smoothwrr

import (
	"math"
	"math/bits"
)

// divisor divides by a fixed number without the slow instruction: P. Barrett,
// "Implementing the RSA public key encryption algorithm", CRYPTO 1986.
type divisor struct {
	by, inverse uint64
}

func newDivisor(by uint64) divisor { return divisor{by: by, inverse: math.MaxUint64 / by} }

// remainder is x modulo by. The estimate of the quotient is exact or one too
// small, since x < 2^64 and the inverse is off by less than 1.
func (d divisor) remainder(x uint64) uint64 {
	quotient, _ := bits.Mul64(x, d.inverse)
	remainder := x - quotient*d.by
	if remainder >= d.by {
		remainder -= d.by
	}
	return remainder
}
