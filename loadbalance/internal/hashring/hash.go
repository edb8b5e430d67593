// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package hashring

import (
	"encoding/binary"

	"github.com/fairway-rpc/fairway/loadbalance/internal/keyhash"
)

// Hash is where a key falls on the ring.
func Hash(key string) uint64 { return keyhash.String(key) }

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
	return keyhash.Bytes(p.input)
}
