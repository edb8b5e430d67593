// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package hashring

import (
	"cmp"
	"slices"
)

// point is one that comes or goes.
type point struct {
	hash  uint64
	owner uint32
}

// change is what leads from one circle's points to another's, by hash.
type change struct {
	removed, added []point
	slots          int
	ranks          []uint32 // the places of slots, for points of one hash
}

// changed returns the circle of other places, and the number of slots, and gives
// the places their slots. If much differs, or slots are mostly empty, it is made
// anew.
func (c *circle) changed(before, after []place, slots int) (*circle, int) {
	keepSlots(before, after, &slots)
	if slots > 2*len(after)+perArc {
		return newCircle(after)
	}
	n := 0
	for _, p := range after {
		n += int(p.points)
	}
	if n < fewest*len(c.arcs) && c.width > 1 || n > most*len(c.arcs) {
		return newCircle(after)
	}
	d := &change{slots: slots}
	if !d.compare(before, after, max(n, c.n)/8) {
		return newCircle(after)
	}
	if len(d.removed) == 0 && len(d.added) == 0 {
		return c, slots
	}
	d.rank(after)
	next := &circle{arcs: slices.Clone(c.arcs), width: c.width, n: n, apart: c.apart}
	next.apply(d)
	if next.apart > max(n/16, maxApart) {
		next.gather()
	}
	return next, slots
}

// keepSlots gives the places that were there before the slots that they had, and
// the others slots that are free.
func keepSlots(before, after []place, slots *int) {
	taken := make([]bool, *slots)
	fresh := make([]int, 0, 8)
	i := 0
	for j := range after {
		for i < len(before) && before[i].address < after[j].address {
			i++
		}
		if i < len(before) && before[i].address == after[j].address {
			after[j].slot = before[i].slot
			taken[before[i].slot] = true
			i++
			continue
		}
		fresh = append(fresh, j)
	}
	free := 0
	for _, j := range fresh {
		for free < len(taken) && taken[free] {
			free++
		}
		after[j].slot = uint32(free)
		free++
	}
	*slots = max(*slots, free)
}

// compare goes through the places before and after side by side. It gives up
// when more than limit points differ.
func (d *change) compare(before, after []place, limit int) bool {
	var hasher pointHasher
	i, j := 0, 0
	for i < len(before) || j < len(after) {
		switch {
		case j == len(after) || i < len(before) && before[i].address < after[j].address:
			d.removed = hasher.add(d.removed, before[i], 0, before[i].points)
			i++
		case i == len(before) || after[j].address < before[i].address:
			d.added = hasher.add(d.added, after[j], 0, after[j].points)
			j++
		default:
			d.added = hasher.add(d.added, after[j], before[i].points, after[j].points)
			d.removed = hasher.add(d.removed, before[i], after[j].points, before[i].points)
			i, j = i+1, j+1
		}
		if len(d.removed)+len(d.added) > limit {
			return false
		}
	}
	byHash := func(a, b point) int { return cmp.Compare(a.hash, b.hash) }
	slices.SortFunc(d.removed, byHash)
	slices.SortStableFunc(d.added, byHash) // those of one hash stay in the order of addresses
	return true
}

// add appends the points of an item from one number to before another.
func (p *pointHasher) add(list []point, of place, from, to uint32) []point {
	if from >= to {
		return list
	}
	p.reset(of.address)
	for n := from; n < to; n++ {
		list = append(list, point{hash: p.point(n), owner: of.slot})
	}
	return list
}

func (d *change) rank(after []place) {
	d.ranks = make([]uint32, d.slots)
	for i, p := range after {
		d.ranks[p.slot] = uint32(i)
	}
}

// apply copies the arcs that have points in the change.
func (c *circle) apply(d *change) {
	removed, added := d.removed, d.added
	for len(removed)+len(added) > 0 {
		var a uint64
		switch {
		case len(added) == 0 || len(removed) > 0 && removed[0].hash < added[0].hash:
			a = c.arcOf(removed[0].hash)
		default:
			a = c.arcOf(added[0].hash)
		}
		r, m := c.within(a, removed), c.within(a, added)
		c.arcs[a] = c.arcs[a].merged(removed[:r], added[:m], d.ranks)
		c.arcs[a].index(c.width)
		c.apart += len(c.arcs[a].hashes)
		removed, added = removed[r:], added[m:]
	}
}

// within counts the points at the beginning of a list that are in an arc.
func (c *circle) within(a uint64, points []point) int {
	n := 0
	for n < len(points) && c.arcOf(points[n].hash) == a {
		n++
	}
	return n
}

// merged is the arc without the points that are removed and with those that are
// added.
func (a *arc) merged(removed, added []point, ranks []uint32) arc {
	n := len(a.hashes) - len(removed) + len(added)
	m := arc{hashes: make([]uint64, 0, n), owners: make([]uint32, 0, n)}
	for i, hash := range a.hashes {
		owner := a.owners[i]
		if slices.Contains(removed, point{hash, owner}) {
			continue
		}
		for len(added) > 0 && (added[0].hash < hash || added[0].hash == hash && ranks[added[0].owner] < ranks[owner]) {
			m.hashes, m.owners = append(m.hashes, added[0].hash), append(m.owners, added[0].owner)
			added = added[1:]
		}
		m.hashes, m.owners = append(m.hashes, hash), append(m.owners, owner)
	}
	for _, p := range added {
		m.hashes, m.owners = append(m.hashes, p.hash), append(m.owners, p.owner)
	}
	return m
}

// gather puts the points into memory of one piece again.
func (c *circle) gather() {
	scattered := c.arcs
	c.arcs = make([]arc, len(scattered))
	counts := make([]int, len(scattered))
	for i, a := range scattered {
		counts[i] = len(a.hashes)
	}
	c.allot(counts)
	for i, a := range scattered {
		c.arcs[i].hashes = append(c.arcs[i].hashes, a.hashes...)
		c.arcs[i].owners = append(c.arcs[i].owners, a.owners...)
		c.arcs[i].starts = a.starts
	}
	c.apart = 0
}
