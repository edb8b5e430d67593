// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairway-rpc/fairway/internal/fault"
)

// The names of the policies, as [New] takes them and as spans and metrics say
// them.
const (
	WeightedRandom = "weighted-random"
	SmoothWRR      = "smooth-wrr"
	ConsistentHash = "consistent-hash"
	LeastActive    = "least-active"
)

// policy is how one name is carried out.
type policy struct {
	name string
	// hashes tells that choose needs the hash of the call.
	hashes bool
	// engine makes the state of one service. If that is a counter, the policy
	// reads the calls in flight.
	engine func(*config) engine
}

// policies is the one place that knows them, in the order of the documentation.
var policies = []policy{
	{name: WeightedRandom, engine: newWeightedRandom},
	{name: SmoothWRR, engine: newSmoothWRR},
	{name: ConsistentHash, engine: newConsistentHash, hashes: true},
	{name: LeastActive, engine: newLeastActive},
}

// Policies returns the names that [New] takes.
func Policies() []string {
	names := make([]string, len(policies))
	for i, p := range policies {
		names[i] = p.name
	}
	return names
}

func findPolicy(name string) (policy, error) {
	at := slices.IndexFunc(policies, func(p policy) bool { return p.name == name })
	if at < 0 {
		return policy{}, fmt.Errorf("fairway: %w: %w %q; known are %s",
			ErrInvalidConfig, ErrUnknownPolicy, name, strings.Join(Policies(), ", "))
	}
	return policies[at], nil
}

func (p policy) check(c *config) error {
	if p.hashes && c.hash == nil {
		return fault.Invalid("WithKey", "policy %q needs a key function: WithKey or WithHash", p.name)
	}
	return nil
}

// engine is what a policy keeps for one service across changes of its list.
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

// counter is an engine that needs to know the calls in flight. A candidate
// that its choose returns has been counted already.
type counter interface {
	begin(*node)
	end(*node)
}
