// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package hashring

import "math/bits"

// place is what decides where an item's points are.
type place struct {
	address string
	points  uint32
}

// points are the sorted points of a ring. A lookup enters them by the topmost
// bits of the hash, which lead to within a few points of the right one.
type points struct {
	places []place
	hashes []uint64
	owners []uint32 // indices of places
	starts []uint32 // the first point of each bucket, and the end
	shift  uint
}

func newPoints(places []place) *points {
	n := 0
	for _, p := range places {
		n += int(p.points)
	}
	width := max(1, bits.Len(uint(n))-2) // four to eight points a bucket
	p := &points{
		places: places,
		hashes: make([]uint64, n),
		owners: make([]uint32, n),
		starts: make([]uint32, 1<<width+1),
		shift:  uint(64 - width),
	}
	p.count()
	p.fill()
	p.sortBuckets()
	return p
}

// each calls f for every point, in the order of the places.
func (p *points) each(f func(hash uint64, owner uint32)) {
	for owner, place := range p.places {
		hasher := newPointHasher(place.address)
		for n := range place.points {
			f(hasher.point(uint64(n)), uint32(owner))
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

// find returns the first point at or after the hash, going round.
func (p *points) find(hash uint64) int {
	bucket := hash >> p.shift
	i, end := p.starts[bucket], p.starts[bucket+1]
	for i < end && p.hashes[i] < hash {
		i++
	}
	if int(i) == len(p.hashes) {
		return 0
	}
	return int(i)
}

// resolve tells for each point which serving item has its keys. It is empty if
// there is none.
func (p *points) resolve(serves func(owner uint32) bool) []uint32 {
	first := -1
	all := true
	for i, owner := range p.owners {
		ok := serves(owner)
		all = all && ok
		if ok && first < 0 {
			first = i
		}
	}
	switch {
	case first < 0:
		return nil
	case all:
		return p.owners
	}
	resolved := make([]uint32, len(p.owners))
	next := p.owners[first] // the last points lead round to the first
	for i := len(p.owners) - 1; i >= 0; i-- {
		if serves(p.owners[i]) {
			next = p.owners[i]
		}
		resolved[i] = next
	}
	return resolved
}
