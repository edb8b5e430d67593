// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"errors"
	"fmt"
)

// ErrInvalidConfig is exported as discovery.ErrInvalidConfig,
// loadbalance.ErrInvalidConfig and middleware.ErrInvalidConfig.
var ErrInvalidConfig = errors.New("invalid configuration")

// Invalid reports that the option or argument called name was refused, and why.
// The result wraps [ErrInvalidConfig].
func Invalid(name, format string, args ...any) error {
	return fmt.Errorf("fairway: %w: %s: %w", ErrInvalidConfig, name, fmt.Errorf(format, args...))
}
