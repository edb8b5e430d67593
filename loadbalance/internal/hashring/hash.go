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

// pointHasher hashes the virtual nodes of one address. A zero byte, which no
// address has, stands before the number, so that no two inputs are alike.
type pointHasher struct {
	input  []byte
	number []byte
}

func newPointHasher(address string) pointHasher {
	input := make([]byte, len(address)+1+8)
	copy(input, address)
	return pointHasher{input: input, number: input[len(address)+1:]}
}

func (p pointHasher) point(n uint64) uint64 {
	binary.LittleEndian.PutUint64(p.number, n)
	return mix(xxhash.Sum64(p.input))
}
