// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package maglev keeps keys with items by a table: Maglev hashing (Eisenbud et
// al., "Maglev: a fast and reliable software network load balancer", NSDI 2016),
// weighted.
//
// Who has a key depends only on the key, the items' addresses and their weights:
// it is the same in every process and release, whatever the order of the list
// and the changes before. Keys and addresses are hashed by package keyhash. A
// key belongs to the slot at its hash's part of the table. The first slot on an
// item's way through the table is that of its address's hash, and its step is 1
// and the next hash's part of the size less 1; items take slots in the order of
// their addresses.
//
// # Load
//
// A weight's part of the table is right to the slot. The table has 131,101 slots
// for up to 1,311 items of a weight above 0, and 1,048,583 above, so that among
// up to 10,485 equal ones nobody has more than 1 % above the mean (measured: 0.1 %
// with 100, 0.7 % with 1,000, 0.1 % with 10,000). Beyond that they are at least
// 10 slots each, and 16,777,259 in all from 104,859 items on.
//
// # Movement
//
// Unlike on a ring, a change of one item also moves a few keys among the others.
// The parts of all keys that move, measured with equal weights, and in brackets
// those that have to:
//
//	items   one joins          one leaves         one is heavier by a tenth
//	10      9.3 %  (9.1 %)     10.2 % (10 %)      0.97 % (0.89 %)
//	100     1.4 %  (0.99 %)    1.3 %  (1 %)       0.28 % (0.10 %)
//	1,000   0.78 % (0.10 %)    0.90 % (0.10 %)    0.16 % (0.01 %)
//	10,000  0.16 % (0.01 %)    0.16 % (0.01 %)    0.02 % (0.001 %)
//
// From one size of the table to the next nearly all keys move: when the 1,312th
// item of a weight above 0 comes or goes, and the 104,859th.
//
// An item that does not serve keeps its slots. Each of its keys goes to the next
// slot whose owner serves, going round, and no other key moves.
package maglev
