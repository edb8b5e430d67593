// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package live

// Suspect stands in until calls are reported.
type Suspect struct{ drop func() }

// NewSuspect makes one.
func NewSuspect(drop func()) *Suspect { return &Suspect{drop: drop} }
