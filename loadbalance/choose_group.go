// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import "context"

// find is the branch's end for a call, and whether a preferred filter was given
// up for it. It is nil if a filter that must be kept leaves nobody.
func (b *branch) find(ctx context.Context, request any) (end *branch, fellBack bool) {
	if b.filter == nil {
		return b, false
	}
	wish := b.filter.wish(ctx, request)
	if wish == "" {
		return b.others.find(ctx, request)
	}
	if with := b.byValue[wish]; with != nil {
		if end, fellBack = with.find(ctx, request); end != nil && (end.serves() && !b.filter.Preferred || end.available()) {
			return end, fellBack
		}
	}
	if b.filter.Preferred {
		end, _ = b.others.find(ctx, request)
		return end, true
	}
	return nil, false
}

func (b *branch) serves() bool { return b.near.serving > 0 || b.far != nil && b.far.serving > 0 }

func (b *branch) available() bool { return b.near.available() || b.far.available() }

// groupOf is the group that a call picks among: its zone's, or for the part of
// the calls that is too much for that the others'. The number r, uniformly random
// or the hash of the call's key, says whether this is one.
func (b *branch) groupOf(r uint64, skip *skips) *group {
	g, other := b.near, b.far
	if other == nil {
		return g
	}
	if r >= b.share && other.available() || !g.available() && (other.available() || g.serving == 0) {
		g, other = other, g
	}
	if g.closed && other.open() {
		g, other = other, g
	}
	if skip != nil && !g.offers(skip) && other.offers(skip) {
		return other
	}
	return g
}

// stir makes a number of the hash that is independent of what the policy does
// with the hash (the finalizer of SplitMix64).
func stir(hash uint64) uint64 {
	hash = (hash ^ hash>>30) * 0xbf58476d1ce4e5b9
	hash = (hash ^ hash>>27) * 0x94d049bb133111eb
	return hash ^ hash>>31
}
