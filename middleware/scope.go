// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package middleware

import "github.com/fairway-rpc/fairway/internal/fault"

// ScopeName is the instrumentation scope of the spans.
const ScopeName = "github.com/fairway-rpc/fairway/middleware"

// Version is the version of the instrumentation scope.
const Version = "0.1.0"

// ErrInvalidConfig is wrapped by what the constructors panic with.
var ErrInvalidConfig = fault.ErrInvalidConfig
