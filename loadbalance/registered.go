// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	kdiscovery "github.com/cloudwego/kitex/pkg/discovery"

	"github.com/fairway-rpc/fairway/internal/fault"
)

// Candidate is an instance in a list that a policy of an application's own picks
// from.
type Candidate struct {
	// Instance is the resolver's.
	Instance kdiscovery.Instance
	// Weight is what the instance weighs now. It is 0 for one that must not be
	// picked: it is drained, or set aside.
	Weight uint64

	node *node
}

// InFlight is the number of calls under way on the instance, picked by this
// balancer.
func (c *Candidate) InFlight() int64 { return c.node.active() }

// Chooser picks from one immutable list. It must be safe for concurrent use, and
// should neither block nor allocate.
type Chooser interface {
	// Choose returns the index of a candidate whose weight is above 0 and that
	// skip, which is nil for most calls, does not report; -1 if it finds none.
	// The hash is that of the call's key if the balancer was made with [WithKey]
	// or [WithHash], and random otherwise.
	Choose(hash uint64, skip func(index int) bool) int
}

// Builder makes a Chooser for a list. Prev is the Chooser that the new one
// replaces, nil at first, so that what it has learnt can be kept. A Builder is
// called off the call path, for one service by one goroutine at a time.
type Builder func(candidates []Candidate, prev Chooser) Chooser

// Register makes a policy of an application's own known under a name, which
// [New] then takes like those of [Policies]. All that is said of policies in
// the package's documentation holds for it: it gets live lists, weights of 0 for
// who is drained or set aside, and retries that avoid who has just failed.
//
// The name should have the form of the others: lower case, words with hyphens.
// One that is empty or taken is refused with an error that wraps
// [ErrInvalidConfig]. Register is meant for init functions and is safe for
// concurrent use.
func Register(name string, build Builder) error {
	if name == "" || build == nil {
		return fault.Invalid("Register", "a policy needs a name and a builder")
	}
	policies.mu.Lock()
	defer policies.mu.Unlock()
	if slices.ContainsFunc(policies.all, func(p policy) bool { return p.name == name }) {
		return fault.Invalid("Register", "there is a policy %q already", name)
	}
	policies.all = append(policies.all, policy{
		name:    name,
		mayHash: true,
		engine:  func(c *config) engine { return &foreign{builder: build, config: c} },
	})
	return nil
}

// policies is the one place that knows all of them: the builtin ones and then
// those that applications have registered.
var policies = struct {
	mu  sync.RWMutex
	all []policy
}{all: slices.Clone(builtin)}

// Policies returns the names that [New] takes: the builtin ones in the order of
// the documentation, then those that were registered.
func Policies() []string {
	policies.mu.RLock()
	defer policies.mu.RUnlock()
	names := make([]string, len(policies.all))
	for i, p := range policies.all {
		names[i] = p.name
	}
	return names
}

func findPolicy(name string) (policy, error) {
	policies.mu.RLock()
	defer policies.mu.RUnlock()
	if at := slices.IndexFunc(policies.all, func(p policy) bool { return p.name == name }); at >= 0 {
		return policies.all[at], nil
	}
	names := make([]string, len(policies.all))
	for i, p := range policies.all {
		names[i] = p.name
	}
	return policy{}, fmt.Errorf("fairway: %w: %w %q; known are %s",
		ErrInvalidConfig, ErrUnknownPolicy, name, strings.Join(names, ", "))
}
