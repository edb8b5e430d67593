// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"github.com/fairway-rpc/fairway/internal/fault"
	"github.com/fairway-rpc/fairway/loadbalance/internal/pace"
)

// The names of the policies, as [New] takes them and as spans and metrics say
// them.
const (
	// Random draws uniformly, whatever the weights.
	Random = "random"
	// WeightedRandom draws by weight (M. D. Vose's alias method, 1991).
	WeightedRandom = "weighted-random"
	// RoundRobin goes round, whatever the weights.
	RoundRobin = "round-robin"
	// SmoothWRR goes round by weight, in the order of nginx's smooth weighted
	// round robin: weights 5, 1, 1 give a a b a c a a.
	SmoothWRR = "smooth-wrr"
	// ConsistentHash keeps a key with one instance, whoever asks (D. Karger et
	// al., 1997): a change of one instance moves only its own keys.
	ConsistentHash = "consistent-hash"
	// BoundedHash is ConsistentHash, but passes an instance over that has more
	// than its share of the calls in flight (V. Mirrokni, M. Thorup and M.
	// Zadimoghaddam, 2018).
	BoundedHash = "bounded-hash"
	// Maglev keeps a key with one instance, whoever asks, by a table that loads
	// instances more evenly than ConsistentHash's ring and moves more keys when
	// one changes (D. Eisenbud et al., 2016).
	Maglev = "maglev"
	// SourceHash keeps a caller with one instance: by default this process, and
	// with a key function whomever that names.
	SourceHash = "source-hash"
	// P2CEWMA draws two instances by weight and takes the better one, by latency,
	// failures and calls in flight for its weight (the power of two choices, M.
	// Mitzenmacher 1996; latency as Finagle's peak EWMA). Latencies come from the
	// suite of package middleware; without it only the calls in flight count.
	P2CEWMA = "p2c-ewma"
	// ShortestResponse takes the instance with the least latency times calls in
	// flight, of several by weight (Dubbo's rule; the average decays over ten
	// seconds, instances that differ by less than half an octave are alike, and who
	// fails counts as slower).
	// Latencies come from the suite of package middleware.
	ShortestResponse = "shortest-response"
	// LeastActive takes the instance with the fewest calls in flight, of several
	// by weight (Dubbo's rule).
	LeastActive = "least-active"
)

// policy is how one name is carried out.
type policy struct {
	name string
	// hashes tells that choose needs the hash of the call.
	hashes bool
	// keyless tells that it has a key of its own, for want of a key function.
	keyless bool
	// mayHash tells that choose can do with the hash of the call, if there is a
	// key function, and without.
	mayHash bool
	// even tells that weights do not count.
	even bool
	// average takes the latency of a call in and returns the estimate, for policies
	// that go by how long calls take.
	average func(h *pace.History, now, took int64, mean float64) float64
	// engine makes the state of one service. If that is a counter, the policy
	// reads the calls in flight.
	engine func(*config) engine
}

// builtin policies, in the order of the documentation.
var builtin = []policy{
	{name: Random, engine: newRandom, even: true},
	{name: WeightedRandom, engine: newWeightedRandom},
	{name: RoundRobin, engine: newRoundRobin, even: true},
	{name: SmoothWRR, engine: newSmoothWRR},
	{name: ConsistentHash, engine: newConsistentHash, hashes: true},
	{name: BoundedHash, engine: newBoundedHash, hashes: true},
	{name: Maglev, engine: newMaglev, hashes: true},
	{name: SourceHash, engine: newConsistentHash, hashes: true, keyless: true},
	{name: LeastActive, engine: newLeastActive},
	{name: P2CEWMA, engine: newP2C, average: (*pace.History).AnsweredPeak},
	{name: ShortestResponse, engine: newShortestResponse, average: (*pace.History).Answered},
}

// prepare checks and completes the options for the policy.
func (p policy) prepare(c *config) error {
	if !p.hashes || c.hash != nil {
		return nil
	}
	if !p.keyless {
		return fault.Invalid("WithKey", "policy %q needs a key function: WithKey or WithHash", p.name)
	}
	c.hash = ownHash()
	return nil
}

// weigh is what a candidate weighs under the policy.
func (p policy) weigh() func(*candidate) uint64 {
	if p.even {
		return (*candidate).presence
	}
	return (*candidate).share
}

// engine is what a policy keeps for one service, or one group of its instances,
// across changes of the list.
type engine interface {
	// build prepares choices from a list; prev is what it replaces, nil at
	// first. Calls of build do not overlap; choices already built stay in use
	// until the caller has swapped the new ones in.
	build(list []*candidate, prev chooser) chooser
}

// chooser picks from one immutable list. It is safe for concurrent use.
type chooser interface {
	// choose returns a candidate that serves and is not skipped. The caller
	// makes sure that there is one. The hash is that of the call, for policies
	// that hash.
	choose(hash uint64, skip *skips) *candidate
}

// counter is an engine that reads the calls in flight. A candidate that its choose
// returns has been counted already.
type counter interface {
	// counted tells that the calls in flight on a node are so many more or fewer
	// now, for another reason than the engine's own choice.
	counted(n *node, more int64)
}

// pacer is an engine that is told when a node's history has changed.
type pacer interface {
	paced(n *node, now int64)
}
