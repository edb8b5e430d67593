// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"errors"

	"github.com/fairway-rpc/fairway/internal/fault"
)

var (
	// ErrInvalidConfig is wrapped by every error about a bad option or argument;
	// the error's text names it.
	ErrInvalidConfig = fault.ErrInvalidConfig
	// ErrInvalidRecord is wrapped by the errors about instance records and
	// operator's rules in etcd that cannot be used.
	ErrInvalidRecord = errors.New("fairway: invalid record")
	// ErrServiceNotFound means that etcd answered and has never had an instance
	// of the service since the resolver began to follow it, or that nothing was
	// ever added to a [Static].
	ErrServiceNotFound = errors.New("fairway: service has no registered instance")
	// ErrRegistryUnavailable means that etcd could not be reached and, from a
	// Resolver, that nothing is known from before, neither in memory nor on disk.
	ErrRegistryUnavailable = errors.New("fairway: registry unavailable")
	// ErrClosed means that the Registry or Resolver was closed before the call.
	ErrClosed = errors.New("fairway: closed")
)
