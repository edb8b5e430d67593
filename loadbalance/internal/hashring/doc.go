// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package hashring keeps keys with items: consistent hashing (Karger et al.,
// "Consistent hashing and random trees", STOC 1997) on a ring of weighted
// virtual nodes.
//
// Who has a key depends only on the key, the items' addresses and their weights:
// it is the same in every process and release, whatever the order of the list
// and the changes before. A change of one item moves only keys from it or to it.
//
// The hash of everything is XXH64 (Y. Collet's xxHash, seed 0) and then the
// finalizer of SplitMix64: of the key's bytes; and for point n of an item, of the
// address, a zero byte and n in eight bytes, the lowest first. A key belongs to
// the first point at or after its hash, going round; of points with one hash
// the lower address is first.
package hashring
