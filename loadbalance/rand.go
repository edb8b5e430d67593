// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	crand "crypto/rand"
	"encoding/binary"
	"math/rand/v2"
	"sync"

	"github.com/bytedance/gopkg/lang/fastrand"

	"github.com/fairway-rpc/fairway/internal/fault"
)

// Rand is a source of uniformly random numbers that is safe for concurrent use.
type Rand interface{ Uint64() uint64 }

// WithRand sets the random source of the policies that draw. [LockedRand] makes
// a test repeatable. Defaults to the runtime's fast generator (wyrand, one per
// thread), which is seeded anew in each process and never contended.
func WithRand(source Rand) Option {
	return optionFunc(func(c *config) error {
		if source == nil {
			return fault.Invalid("WithRand", "the source is nil")
		}
		c.rand.given = source
		return nil
	})
}

// generator draws from the given source, or as long as there is none from the
// runtime's generator, without the costs of a call by interface.
type generator struct{ given Rand }

// Uint64 implements Rand.
func (g generator) Uint64() uint64 {
	if g.given == nil {
		return fastrand.Uint64()
	}
	return g.given.Uint64()
}

// CryptoRand draws from the operating system's generator, at a few hundred
// nanoseconds a pick.
func CryptoRand() Rand { return cryptoRand{} }

type cryptoRand struct{}

func (cryptoRand) Uint64() uint64 {
	var b [8]byte
	_, _ = crand.Read(b[:]) // documented never to fail
	return binary.NativeEndian.Uint64(b[:])
}

// LockedRand draws a sequence that the seed determines (PCG), under a lock.
func LockedRand(seed uint64) Rand {
	return &lockedRand{source: rand.NewPCG(seed, seed)}
}

type lockedRand struct {
	mu     sync.Mutex
	source *rand.PCG
}

func (r *lockedRand) Uint64() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.source.Uint64()
}
