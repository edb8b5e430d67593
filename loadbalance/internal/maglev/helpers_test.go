// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package maglev

import "fmt"

func table(items ...Item[string]) *Table[string] { return New(items, nil) }

func item(address string, weight uint64) Item[string] {
	return Item[string]{Value: address, Address: address, Weight: weight, Serving: true}
}

// fleet makes items whose addresses look like those of one network.
func fleet(prefix string, n int, weight uint64) []Item[string] {
	items := make([]Item[string], n)
	for i := range items {
		items[i] = item(fmt.Sprintf("%s.%d.%d:8888", prefix, i/250, i%250), weight)
	}
	return items
}

func mixed(n int) []Item[string] {
	items := fleet("10.0", n, 0)
	for i := range items {
		items[i].Weight = uint64(1 + i*37%100)
	}
	return items
}

// moved is the part of the keys whose owners differ, 1 if the sizes do.
func moved(a, b *Table[string]) float64 {
	if a.Len() != b.Len() {
		return 1
	}
	n := 0
	for i, owner := range a.owners {
		if a.values[owner] != b.values[b.owners[i]] {
			n++
		}
	}
	return float64(n) / float64(a.Len())
}
