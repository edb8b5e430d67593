// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package smoothwrr

import "math/bits"

// spread takes the items in the order of a golden-ratio sequence: turn k falls
// on the fraction of k times the golden ratio, which fills the unit interval
// evenly at every length (H. Weyl 1916), and the item whose stretch of the
// interval that is gets the turn. It takes O(n) memory whatever the weights,
// and keeps everybody within a few turns of their share over any window.
type spread struct {
	ends  []uint64 // upper end of each item's stretch, in 2^64ths
	guide []uint32 // the first item whose stretch reaches into each bucket
	shift uint
}

// step is 2^64 over the golden ratio, made odd.
const step = 0x9e3779b97f4a7c15

func newSpread(weights []uint64, total uint64) *spread {
	s := &spread{ends: make([]uint64, len(weights))}
	sum := uint64(0)
	for i, w := range weights {
		if sum += w; sum < total {
			s.ends[i], _ = bits.Div64(sum, 0, total)
		} else {
			s.ends[i] = ^uint64(0)
		}
	}
	width := bits.Len(uint(len(weights))) + 1
	s.shift = uint(64 - width)
	s.guide = make([]uint32, 1<<width)
	item := 0
	for b := range s.guide {
		for s.ends[item] <= uint64(b)<<s.shift && item < len(s.ends)-1 {
			item++
		}
		s.guide[b] = uint32(item)
	}
	return s
}

func (s *spread) at(turn uint64) uint32 {
	x := turn * step
	i := s.guide[x>>s.shift]
	for s.ends[i] <= x && int(i) < len(s.ends)-1 {
		i++
	}
	return i
}

// period is a window after which everybody has had their share.
func (s *spread) period() uint64 { return 1 << 20 }
