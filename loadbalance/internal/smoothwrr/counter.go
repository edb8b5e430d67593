// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package smoothwrr

import (
	"math/bits"
	"runtime"
	"sync/atomic"

	"github.com/cloudwego/runtimex"
)

// counter numbers the turns of a sequence and of those that replace it. Each
// number is given out once.
//
// As long as callers do not meet, they get the numbers one after another. Once
// two have met, each processor takes a block of numbers at a time, since a
// counter that processors fight for takes ten times as long as one that each
// has to itself. Up to 63 numbers a processor are then given out later than
// others that follow them.
type counter struct {
	_      [64]byte
	turns  atomic.Uint64 // given out, in blocks or singly
	_      [56]byte
	met    atomic.Bool
	blocks []block // one for each processor, a power of two
}

// block is the numbers that a processor has left: the next one above the lowest
// six bits, which count them. It stands on cache lines of its own.
type block struct {
	left atomic.Uint64
	_    [120]byte
}

const (
	blockBits = 6
	blockSize = 1 << blockBits
	leftMask  = blockSize - 1
	// filling is a block that is being filled.
	filling = 1 << 63
)

func newCounter() *counter {
	return &counter{blocks: make([]block, 1<<bits.Len(uint(runtime.GOMAXPROCS(0)-1)))}
}

// next gives out a number, the first of which is 1.
func (c *counter) next() uint64 {
	if !c.met.Load() {
		turn := c.turns.Load()
		if c.turns.CompareAndSwap(turn, turn+1) {
			return turn + 1
		}
		c.met.Store(true)
	}
	return c.fromBlock()
}

// fromBlock takes a number of the processor's block. Whoever is in another's way
// there, which takes being moved to another processor in between, takes a number
// of its own instead.
func (c *counter) fromBlock() uint64 {
	processor, err := runtimex.PID()
	if err != nil { // not known on this architecture
		return c.turns.Add(1)
	}
	b := &c.blocks[processor&(len(c.blocks)-1)]
	left := b.left.Load()
	switch {
	case left&leftMask != 0:
		if b.left.CompareAndSwap(left, left+blockSize-1) { // the next number, and one fewer
			return left >> blockBits
		}
	case left != filling && b.left.CompareAndSwap(left, filling):
		first := c.turns.Add(blockSize) - blockSize + 1
		b.left.Store((first+1)<<blockBits | leftMask)
		return first
	}
	return c.turns.Add(1)
}
