// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package hashring

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// Hash is where a key falls on the ring.
func Hash(key string) uint64 { return mix(xxhash.Sum64String(key)) }

// mix spreads the input's bits over all of the output (the finalizer of
// S. Vigna's SplitMix64), since the ring is entered by the topmost ones.
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// pointHasher hashes the points of one address after another. The number has a
// fixed width and stands last, so that no two inputs are alike, whatever bytes
// an address has.
type pointHasher struct{ input []byte }

func (p *pointHasher) reset(address string) {
	p.input = append(p.input[:0], address...)
	p.input = append(p.input, make([]byte, 9)...)
}

func (p *pointHasher) point(n uint32) uint64 {
	binary.LittleEndian.PutUint64(p.input[len(p.input)-8:], uint64(n))
	return mix(xxhash.Sum64(p.input))
}
