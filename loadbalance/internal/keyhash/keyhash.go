// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package keyhash is the hash of keys and addresses that all hashing policies
// share: XXH64 (Y. Collet's xxHash, seed 0) and then the finalizer of S. Vigna's
// SplitMix64. It is the same in every process and release, and must stay so.
package keyhash

import "github.com/cespare/xxhash/v2"

// String hashes a key.
func String(key string) uint64 { return mix(xxhash.Sum64String(key)) }

// Bytes hashes bytes as String does a string of them.
func Bytes(key []byte) uint64 { return mix(xxhash.Sum64(key)) }

// step is SplitMix64's: 2^64 by the golden ratio, made odd.
const step = 0x9e3779b97f4a7c15

// Next is a further hash of what h is a hash of, as independent of it as the
// next number of SplitMix64.
func Next(h uint64) uint64 { return mix(h + step) }

// mix spreads the input's bits over all of the output, since rings and tables
// are entered by the topmost ones.
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
