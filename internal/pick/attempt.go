// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package pick

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/cloudwego/kitex/pkg/rpcinfo"
)

// Node is what a balancer counts calls on.
type Node interface {
	// Begin and End count a call that is under way. They are safe for
	// concurrent use and do not block for longer than O(log n).
	Begin()
	End()
	// Doubt returns what Done wants to know of the moment at which an attempt
	// begins: 0 for almost all, or what is known of a node that is a suspect.
	Doubt() uint64
	// Done tells how an attempt has ended, once for each, what Doubt was when it
	// began, and whether the node had been set aside when it was picked. It is
	// safe for concurrent use and does not block.
	Done(o Outcome, doubt uint64, aside bool)
	// Clock is the present in nanoseconds on a monotonic clock, never 0, for
	// Took; it is 0 if nobody wants to know how long calls take.
	Clock() int64
	// Took tells that a unary call which began at a moment of Clock has ended
	// like this. It is safe for concurrent use and does not block for longer than
	// O(log n).
	Took(began int64, o Outcome)
}

// Attempt is one attempt of a call, from outside Kitex's resolver down to the
// transport. It may pick several times: Kitex picks again when it gets no
// connection. One goroutine runs an attempt, so that its fields need no lock.
type Attempt struct {
	context.Context //nolint:containedctx // the attempt is itself the context of what lies below

	// Picked is the node that was picked last, nil if none was.
	Picked Node
	// Counted tells that the balancer has called Picked.Begin itself, and Taken
	// that the instance middleware will call End for that.
	Counted, Taken bool
	// Aside tells that Picked had been set aside and was picked all the same: as
	// a trial, or since all others had been, too.
	Aside bool
	// Picks and Misses count the picks that found somebody and that did not,
	// Fallbacks those that went on without a preferred filter or left their zone.
	Picks, Misses, Fallbacks int64
	// Subset names the group that filters left for the last pick, "" without filters.
	Subset string
	// PickTime is how long the picks took, if Timed asks for it.
	PickTime time.Duration
	Timed    bool
	// AfterStream is called when a stream that was opened has ended. Streaming is
	// set where that is sure to come.
	AfterStream func()
	Streaming   bool
	// Measured tells that its end has been measured; the ends of a stream may be
	// several, and come from other goroutines.
	Measured atomic.Bool
	// Reason is why nobody was picked last, nil if somebody was.
	Reason error
	// Within tells that the instance middleware is at work on Picked, so that a
	// second one below it keeps still.
	Within bool

	call rpcinfo.RPCInfo
}

type attemptKey struct{}

// Value implements context.Context. The attempt is its own context, so that
// one allocation serves both.
func (a *Attempt) Value(key any) any {
	if _, ok := key.(attemptKey); ok {
		return a
	}
	return a.Context.Value(key)
}

// Begin makes a new attempt of the call that ctx belongs to.
func Begin(ctx context.Context) *Attempt {
	return &Attempt{Context: ctx, call: rpcinfo.GetRPCInfo(ctx)}
}

// From returns the attempt that ctx belongs to, or nil. A call that is made
// from within another, with its context, is not the other's attempt.
func From(ctx context.Context) *Attempt { return Of(ctx, rpcinfo.GetRPCInfo(ctx)) }

// Of is From for a caller that knows ctx's call already.
func Of(ctx context.Context, call rpcinfo.RPCInfo) *Attempt {
	a, _ := ctx.Value(attemptKey{}).(*Attempt)
	if a == nil || a.call != call {
		return nil
	}
	return a
}

// Call is Kitex's account of the call, nil outside of one.
func (a *Attempt) Call() rpcinfo.RPCInfo { return a.call }

// Note records a pick; n is nil if it found nobody.
func (a *Attempt) Note(n Node, counted, aside bool) {
	if n == nil {
		a.Misses++
	} else {
		a.Picks++
	}
	a.Picked, a.Counted, a.Taken, a.Aside, a.Reason = n, counted, false, aside, nil
}
