// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package share compares how calls were spread over instances with how their
// weights would have it.
package share

import (
	"cmp"
	"slices"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"

	"github.com/fairway-rpc/fairway/examples/internal/load"
)

// Row is one instance's part of the calls.
type Row struct {
	Address  string
	Weight   int
	Calls    uint64
	InFlight int64
	// Actual is its share of the calls that reached an instance, Expected that
	// of its weight in all weights; between 0 and 1.
	Actual, Expected float64
	// Listed tells that it is in the list of instances.
	Listed bool
}

// Of returns a row for each listed instance and for each other one that had
// calls, by address. Instances are as the discovery package lists them; any of
// Kitex's do.
func Of[I kdiscovery.Instance](instances []I, tally load.Tally) []Row {
	weights, reached := 0, tally.Calls-tally.Nowhere.Calls
	for _, i := range instances {
		weights += i.Weight()
	}
	rows := make([]Row, 0, len(instances))
	add := func(address string, weight int, listed bool) {
		t := tally.Instances[address]
		rows = append(rows, Row{
			Address: address, Weight: weight, Listed: listed,
			Calls: t.Calls, InFlight: t.InFlight,
			Actual: ratio(t.Calls, reached), Expected: ratio(uint64(weight), uint64(weights)),
		})
	}
	listed := make(map[string]bool, len(instances))
	for _, i := range instances {
		address := i.Address().String()
		listed[address] = true
		add(address, i.Weight(), true)
	}
	for address, t := range tally.Instances {
		if !listed[address] && t.Calls > 0 {
			add(address, 0, false)
		}
	}
	slices.SortFunc(rows, func(a, b Row) int { return cmp.Compare(a.Address, b.Address) })
	return rows
}

func ratio(part, whole uint64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
