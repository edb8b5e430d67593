// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package smoothwrr

import "math/bits"

// position is how far a sequence has come, in a measure that does not depend on
// the length of its cycle. Sequences hand it on in full, with the fraction of a
// turn that one of them cannot use: rounding it away would throw a short cycle
// back to its beginning at each change.
type position struct {
	rounds   uint64 // whole cycles, modulo 2^32
	fraction uint64 // of the present one, in 2^64ths
}

// turn is the number of the turn at a position, in cycles of the length.
func (p position) turn(length uint64) uint64 {
	whole, _ := bits.Mul64(p.fraction, length)
	return p.rounds*length + whole
}

// after is the position some turns later. The fraction is rounded up, or turn
// would round it down to the turn before.
func (p position) after(turns, length uint64) position {
	fraction, rest := bits.Div64(turns%length, 0, length)
	if rest > 0 {
		fraction++
	}
	fraction, carry := bits.Add64(p.fraction, fraction, 0)
	return position{rounds: (p.rounds + turns/length + carry) & (1<<32 - 1), fraction: fraction}
}
