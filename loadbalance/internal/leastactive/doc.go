// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package leastactive finds the item with the fewest calls in flight, of
// several such by weight at random: the rule of Dubbo's least-active load
// balancing, exactly, in O(log n) by a tournament tree.
//
// Choosing and counting are one step under one mutex: callers that choose at
// the same moment see each other's calls and spread, where they would all run
// to one item if they only read the counts.
//
// Items may have a capacity, which their calls are divided by, and a slowness,
// which they are multiplied by: what is lowest then is (calls + 1) x slowness /
// capacity.
package leastactive
