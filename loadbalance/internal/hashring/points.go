// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package hashring

import "math/bits"

// place is what decides where an item's points are.
type place struct {
	address string
	points  uint32
}

// points are the points of a ring in order. A lookup enters them by the topmost
// bits of the hash, which lead to the right one or next to it. Arrays apart take
// 12 bytes a point, and up to 8 for the way in.
type points struct {
	places []place // by address
	hashes []uint64
	owners []uint32 // indices of places
	starts []uint32 // the first point of each bucket, and the end
	shift  uint
}

// maxWidth bounds the way in to 4 MiB.
const maxWidth = 20

// room makes arrays for n points. There is at most one in a bucket on average,
// or two in the largest rings.
func room(places []place, n int) points {
	width := min(max(bits.Len(uint(n)), 1), maxWidth)
	return points{
		places: places,
		hashes: make([]uint64, n),
		owners: make([]uint32, n),
		starts: make([]uint32, 1<<width+1),
		shift:  uint(64 - width),
	}
}

func total(places []place) int {
	n := 0
	for _, p := range places {
		n += int(p.points)
	}
	return n
}

// newPoints sorts by buckets: it hashes each point twice, first to find how
// long the buckets are, which takes less time than to sort and no memory.
func newPoints(places []place) points {
	p := room(places, total(places))
	p.count()
	p.fill()
	p.sortBuckets()
	return p
}

// each calls f for every point, in the order of the places.
func (p *points) each(f func(hash uint64, owner uint32)) {
	var hasher pointHasher
	for owner, place := range p.places {
		hasher.reset(place.address)
		for n := range place.points {
			f(hasher.point(n), uint32(owner))
		}
	}
}

// count finds where each bucket begins.
func (p *points) count() {
	p.each(func(hash uint64, _ uint32) { p.starts[hash>>p.shift+1]++ })
	for b := 1; b < len(p.starts); b++ {
		p.starts[b] += p.starts[b-1]
	}
}

// fill puts each point into its bucket, in the order of the places.
func (p *points) fill() {
	next := make([]uint32, len(p.starts))
	copy(next, p.starts)
	p.each(func(hash uint64, owner uint32) {
		at := next[hash>>p.shift]
		next[hash>>p.shift]++
		p.hashes[at], p.owners[at] = hash, owner
	})
}

// sortBuckets sorts each bucket by insertion; they are short. Points of one
// hash stay in the order of the places, which is that of the addresses.
func (p *points) sortBuckets() {
	for b := range len(p.starts) - 1 {
		begin, end := int(p.starts[b]), int(p.starts[b+1])
		for i := begin + 1; i < end; i++ {
			hash, owner := p.hashes[i], p.owners[i]
			j := i
			for ; j > begin && p.hashes[j-1] > hash; j-- {
				p.hashes[j], p.owners[j] = p.hashes[j-1], p.owners[j-1]
			}
			p.hashes[j], p.owners[j] = hash, owner
		}
	}
}

// index finds where each bucket begins in points that are in order already.
func (p *points) index() {
	bucket := uint64(0)
	for i, hash := range p.hashes {
		for ; bucket <= hash>>p.shift; bucket++ {
			p.starts[bucket] = uint32(i)
		}
	}
	for ; bucket < uint64(len(p.starts)); bucket++ {
		p.starts[bucket] = uint32(len(p.hashes))
	}
}

// find returns the first point at or after the hash, going round. It need not
// know where the bucket ends, since the next one's points are beyond the hash.
func (p *points) find(hash uint64) int {
	i := int(p.starts[hash>>p.shift])
	for i < len(p.hashes) && p.hashes[i] < hash {
		i++
	}
	if i == len(p.hashes) {
		return 0
	}
	return i
}
