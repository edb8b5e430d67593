// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"errors"

	"github.com/cloudwego/kitex/pkg/kerrors"

	"github.com/fairway-rpc/fairway/discovery"
	"github.com/fairway-rpc/fairway/loadbalance"
)

// explained says why there was no instance for an attempt, where Kitex says only
// that there was none. What Kitex, its retries and its circuit breakers know the
// error by stays as it was.
func explained(err, reason error) error {
	if reason == nil || !errors.Is(err, kerrors.ErrNoMoreInstance) {
		return err
	}
	return kerrors.ErrNoMoreInstance.WithCause(&noInstance{reason: reason, kitex: err})
}

// noInstance reads like the reason and is everything that Kitex's error is, too.
type noInstance struct{ reason, kitex error }

// Error implements error.
func (e *noInstance) Error() string { return e.reason.Error() }

// Unwrap has errors.Is find the reason, that the registry cannot be reached, and
// what Kitex's error wraps.
func (e *noInstance) Unwrap() []error {
	all := []error{e.reason, e.kitex}
	var pick *loadbalance.PickError
	if errors.As(e.reason, &pick) && pick.Stale {
		all = append(all, discovery.ErrRegistryUnavailable)
	}
	return all
}
