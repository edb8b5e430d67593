// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package hashring

import (
	"fmt"
	"math"
	"testing"
	"unsafe"
)

// TestLoadIsSpread measures the exact part of the circle that each item has,
// averaged over ten sets of addresses.
func TestLoadIsSpread(t *testing.T) {
	for n, limit := range map[int]float64{10: 1.2, 100: 1.25, 1000: 1.4} {
		sum := 0.0
		for set := range 10 {
			sum += busiest(ring(fleet(fmt.Sprintf("10.%d", set), n, 10)...)) * float64(n)
		}
		t.Logf("n=%d: %.3f", n, sum/10)
		if mean := sum / 10; mean > limit {
			t.Errorf("n=%d: the busiest has %.3f times the mean, want at most %.2f", n, mean, limit)
		}
	}
}

// busiest is the greatest part of all keys that one item has.
func busiest(r *Ring[string]) float64 {
	parts := map[string]float64{}
	all := points(r)
	before := all[len(all)-1].hash
	for _, p := range all {
		parts[p.value] += float64(p.hash-before) / (1 << 64)
		before = p.hash
	}
	most := 0.0
	for _, p := range parts {
		most = max(most, p)
	}
	return most
}

func TestLoadFollowsWeights(t *testing.T) {
	r := ring(item("a:1", 5), item("b:1", 10), item("c:1", 35), item("d:1", 50))
	parts := map[string]float64{}
	const keys = 100_000
	for i := range keys {
		parts[r.Lookup(Hash(fmt.Sprint(i)))] += 1.0 / keys
	}
	for address, want := range map[string]float64{"a:1": 0.05, "b:1": 0.1, "c:1": 0.35, "d:1": 0.5} {
		if math.Abs(parts[address]/want-1) > 0.2 {
			t.Errorf("%s has %.3f of the keys, want about %.3f", address, parts[address], want)
		}
	}
}

func TestMemoryOfAFullRing(t *testing.T) {
	items := fleet("10.0", 10_000, 10)
	r := ring(items...)
	if r.Len() != 10_000*160 {
		t.Errorf("%d points", r.Len())
	}
	for i := range 100 { // so that some arcs are apart
		items[i*17].Weight = 11
		r = New(items, 160, r)
	}
	bytes := int(unsafe.Sizeof(arc{}))*cap(r.circle.arcs) + int(unsafe.Sizeof(place{}))*cap(r.places) +
		16*cap(r.values) + 12*(r.Len()+r.circle.apart)
	t.Logf("%.1f MiB", float64(bytes)/(1<<20))
	if bytes > 32<<20 {
		t.Errorf("%d bytes, want at most 32 MiB", bytes)
	}
}

func TestPointsAreBoundedWhateverTheWeights(t *testing.T) {
	r := ring(item("a:1", math.MaxInt32), item("b:1", math.MaxInt32), item("c:1", 1))
	if r.Len() > maxPoints || r.Len() < maxPoints/4 {
		t.Errorf("%d points", r.Len())
	}
	c := 0
	for _, p := range points(r) {
		if p.value == "c:1" {
			c++
		}
	}
	if c != 1 {
		t.Errorf("the lightest has %d points, want 1", c)
	}
}

// TestHalvingDependsOnTheWeightsAlone: a ring that is over the bound has the
// same points whatever was before.
func TestHalvingDependsOnTheWeightsAlone(t *testing.T) {
	light := []Item[string]{item("a:1", 1000), item("b:1", 10)}
	heavy := append([]Item[string]{item("c:1", 200_000)}, light...)
	r := New(light, 160, ring(heavy...))
	if got, want := r.Len(), (1000+10)*16; got != want {
		t.Errorf("%d points after the heavy one has left, want %d", got, want)
	}
	if got, want := ring(heavy...).Len(), (200_000+1000+10)*16/2; got != want {
		t.Errorf("%d points with the heavy one, want %d", got, want)
	}
}
