// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package guard

import "time"

// peak is the largest of the sizes in a sliding window. Sizes that a later and
// larger one outlives are not kept, so that they fall from the first on.
type peak struct{ sizes []sized }

type sized struct {
	size  int
	until time.Time // zero for the present size: it lasts
}

// note makes size the present one and returns the largest within the window
// that ends now.
func (p *peak) note(now time.Time, size int, window time.Duration) int {
	if n := len(p.sizes); n > 0 {
		p.sizes[n-1].until = now
	}
	for len(p.sizes) > 0 && p.sizes[len(p.sizes)-1].size <= size {
		p.sizes = p.sizes[:len(p.sizes)-1]
	}
	p.sizes = append(p.sizes, sized{size: size})
	for len(p.sizes) > 1 && now.Sub(p.sizes[0].until) > window {
		p.sizes = p.sizes[1:]
	}
	return p.sizes[0].size
}
