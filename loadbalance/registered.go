// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

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
