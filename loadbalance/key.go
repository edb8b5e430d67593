// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

import (
	"context"

	"github.com/fairway-rpc/fairway/internal/fault"
	"github.com/fairway-rpc/fairway/loadbalance/internal/hashring"
)

// WithKey sets the function that reads the key of a call, which the hashing
// policies need: the same key goes to the same instance. It is called for each
// pick, concurrently; request is the generated arguments of a unary call (see
// Kitex's utils.KitexArgs) and nil for a stream. An empty key means that there
// is none, and the pick fails with [ErrNoKey] unless [WithOptionalKey] is given.
// [KeyField], [KeyMetainfo], [KeyMethod] and [KeyCaller] are such functions.
func WithKey(key func(ctx context.Context, request any) string) Option {
	return optionFunc(func(c *config) error {
		if key == nil {
			return fault.Invalid("WithKey", "the function is nil")
		}
		c.hash = func(ctx context.Context, request any) (uint64, bool) {
			k := key(ctx, request)
			return hashring.Hash(k), k != ""
		}
		return nil
	})
}

// WithHash sets a function that hashes the call itself, in place of [WithKey].
// All 64 bits must be spread well. False means that the call has no key.
func WithHash(hash func(ctx context.Context, request any) (uint64, bool)) Option {
	return optionFunc(func(c *config) error {
		if hash == nil {
			return fault.Invalid("WithHash", "the function is nil")
		}
		c.hash = hash
		return nil
	})
}

// WithOptionalKey lets calls without a key through: each goes to a random point,
// so that together they spread over the instances as keys do. Without it the
// picks of such calls fail with [ErrNoKey].
func WithOptionalKey() Option {
	return optionFunc(func(c *config) error {
		c.optionalKey = true
		return nil
	})
}
