// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package hashring

import (
	"math"
	"math/bits"
)

// circle is the points of a ring in order, in arcs of equal length, so that a
// change copies the arcs that it falls into and shares the others. It has at
// least one point, or none at all.
type circle struct {
	arcs  []arc
	width uint // the topmost bits of a hash, at least one, lead to its arc
	n     int  // points in all
	// apart counts the points of arcs that changes have copied. The others keep
	// the memory of a whole circle alive, however few they are.
	apart int
}

// arc is the points of one part of the circle, by hash and then by address.
type arc struct {
	hashes []uint64
	owners []uint32 // slots
	// starts leads a lookup to the first point of its bucket, by the bits of the
	// hash below those that lead to the arc. An arc has no more than 255 points,
	// or those above cannot be led to, and are walked to.
	starts [buckets]uint8
}

const (
	buckets    = 1 << bucketBits
	bucketBits = 6

	// An arc should have a few dozen points: to copy those that an item has
	// points in takes then about as long as to copy the list of arcs. A circle
	// keeps its arcs until they are far from that.
	perArc = 64
	fewest = 16
	most   = 128

	maxApart = 1 << 17 // points that may be apart in a small circle
)

func newArcs(n int) circle {
	width := max(1, bits.Len(uint(max(n-1, 0)/perArc)))
	return circle{arcs: make([]arc, 1<<width), width: uint(width), n: n}
}

// arcOf and bucketOf tell where a hash is. The masks spare the processor a
// comparison, since widths are between 1 and 63.
func (c *circle) arcOf(hash uint64) uint64 { return hash >> (-c.width & 63) }

func bucketOf(hash uint64, width uint) uint64 { return hash << (width & 63) >> (64 - bucketBits) }

// newCircle gives each place a slot of its own, and returns the number of slots.
// It sorts by arcs: it hashes each point twice, first to find how many an arc
// has, which takes less time than to sort and no memory.
func newCircle(places []place) (*circle, int) {
	n := 0
	for i := range places {
		places[i].slot = uint32(i)
		n += int(places[i].points)
	}
	c := newArcs(n)
	counts := make([]int, len(c.arcs))
	each(places, func(hash uint64, _ uint32) { counts[c.arcOf(hash)]++ })
	c.allot(counts)
	each(places, func(hash uint64, owner uint32) {
		a := &c.arcs[c.arcOf(hash)]
		a.hashes, a.owners = append(a.hashes, hash), append(a.owners, owner)
	})
	for i := range c.arcs {
		c.arcs[i].sort()
		c.arcs[i].index(c.width)
	}
	return &c, len(places)
}

// allot gives each arc room for so many points.
func (c *circle) allot(counts []int) {
	hashes, owners := make([]uint64, c.n), make([]uint32, c.n)
	at := 0
	for i, n := range counts {
		c.arcs[i] = arc{hashes: hashes[at : at : at+n], owners: owners[at : at : at+n]}
		at += n
	}
}

// each calls f for every point, in the order of the places.
func each(places []place, f func(hash uint64, owner uint32)) {
	var hasher pointHasher
	for _, p := range places {
		hasher.reset(p.address)
		for n := range p.points {
			f(hasher.point(n), p.slot)
		}
	}
}

// sort sorts by insertion. Points of one hash stay in the order of the places,
// which is that of the addresses.
func (a *arc) sort() {
	for i := 1; i < len(a.hashes); i++ {
		hash, owner := a.hashes[i], a.owners[i]
		j := i
		for ; j > 0 && a.hashes[j-1] > hash; j-- {
			a.hashes[j], a.owners[j] = a.hashes[j-1], a.owners[j-1]
		}
		a.hashes[j], a.owners[j] = hash, owner
	}
}

// index finds where the buckets begin. The width is the circle's.
func (a *arc) index(width uint) {
	b := uint64(0)
	for i, hash := range a.hashes {
		for ; b <= bucketOf(hash, width); b++ {
			a.starts[b] = uint8(min(i, math.MaxUint8))
		}
	}
	for ; b < buckets; b++ {
		a.starts[b] = uint8(min(len(a.hashes), math.MaxUint8))
	}
}

// find returns the arc of a hash and the place in it of the first point at or
// after the hash, which may be the place after the last. It need not know where
// the bucket ends, since the next one's points are beyond the hash.
func (c *circle) find(hash uint64) (a *arc, i int) {
	a = &c.arcs[c.arcOf(hash)]
	i = int(a.starts[bucketOf(hash, c.width)])
	for i < len(a.hashes) && a.hashes[i] < hash {
		i++
	}
	return a, i
}

// after returns the next arc that has points, going round.
func (c *circle) after(a uint64) uint64 {
	for {
		if a++; a == uint64(len(c.arcs)) {
			a = 0
		}
		if len(c.arcs[a].hashes) > 0 {
			return a
		}
	}
}
