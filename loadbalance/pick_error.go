// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"fmt"
	"strings"
	"time"

	"github.com/cloudwego/kitex/pkg/rpcinfo"
)

// PickError is why a pick found nobody, as the suite of package middleware
// returns it within Kitex's error. It wraps the reason, one of [ErrEmpty],
// [ErrAllDrained], [ErrAllEjected], [ErrNoneInSubset] and [ErrNoKey].
type PickError struct {
	// Service is the name that was called.
	Service string
	Policy  string
	// Listed is the number of instances that are known, whatever their state.
	Listed int
	// Stale tells that the list comes from a registry that cannot be reached now,
	// and Age how long ago it was last known to be true.
	Stale bool
	Age   time.Duration
	Err   error
}

// Error implements error.
func (e *PickError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v: service %q, %d listed, policy %s", e.Err, e.Service, e.Listed, e.Policy)
	if e.Stale {
		fmt.Fprintf(&b, "; the registry cannot be reached, and the list is %v old", e.Age.Round(time.Second))
	}
	return b.String()
}

// Unwrap returns the reason.
func (e *PickError) Unwrap() error { return e.Err }

// explain is the error of a pick that found nobody.
func (s *service) explain(info rpcinfo.RPCInfo, t *table, err error) *PickError {
	e := &PickError{Service: s.key, Policy: s.core.policy.name, Listed: len(t.list), Err: err}
	if info != nil && info.To() != nil {
		e.Service = info.To().ServiceName()
	}
	if t.set != nil && t.set.Stale && s.view != nil {
		e.Stale, e.Age = true, max(0, s.view.Age(time.Now()))
	}
	return e
}
