// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package hashring keeps keys with items: consistent hashing (Karger et al.,
// "Consistent hashing and random trees", STOC 1997) on a ring of weighted
// virtual nodes.
//
// Who has a key depends only on the key, the items' addresses and their weights:
// it is the same in every process and release, whatever the order of the list.
// A change of one item moves only keys from it or to it.
package hashring
