// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"errors"

	"github.com/fairway-rpc/fairway/internal/fault"
)

var (
	// ErrInvalidConfig is wrapped by every error about a bad option or argument;
	// the error's text names it.
	ErrInvalidConfig = fault.ErrInvalidConfig
	// ErrUnknownPolicy is wrapped by the error of [New] about a name that is
	// not among [Policies].
	ErrUnknownPolicy = errors.New("unknown policy")
	// ErrEmpty means that there was no instance to pick from.
	ErrEmpty = errors.New("fairway: no instance")
	// ErrAllDrained means that there are instances, but each of them has the
	// weight 0 or does not serve.
	ErrAllDrained = errors.New("fairway: all instances are drained")
	// ErrAllEjected means that each instance that serves is ejected or unhealthy, and
	// that picks are to fail then.
	ErrAllEjected = errors.New("fairway: all instances are ejected")
	// ErrNoneInSubset means that a filter leaves no instance that serves.
	ErrNoneInSubset = errors.New("fairway: no instance in the wanted subset")
	// ErrNoKey means that a hashing policy got no key for the call.
	ErrNoKey = errors.New("fairway: the call has no hash key")
	// ErrDuplicate is wrapped by the error about an item that a [Selector] has
	// already.
	ErrDuplicate = errors.New("fairway: there is an item of that ID already")
	// ErrNotFound is wrapped by the error about an item that a [Selector] has not.
	ErrNotFound = errors.New("fairway: there is no item of that ID")
)
