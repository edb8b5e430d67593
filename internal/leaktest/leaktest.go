// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package leaktest

import (
	"testing"

	"go.uber.org/goleak"
)

// Main runs the tests of a package and fails when a goroutine is left over at
// their end that [Options] and extra do not excuse. It does not return.
func Main(m *testing.M, extra ...goleak.Option) {
	goleak.VerifyTestMain(m, append(Options(), extra...)...)
}

// Check fails tb's test when a goroutine is left over now. It is for single
// tests that do not run in parallel with others.
func Check(tb testing.TB, extra ...goleak.Option) {
	tb.Helper()
	goleak.VerifyNone(tb, append(Options(), extra...)...)
}

// Options returns what goleak must ignore in a process that uses Kitex.
func Options() []goleak.Option {
	opts := make([]goleak.Option, len(kitex))
	for i, e := range kitex {
		opts[i] = e.option()
	}
	return opts
}
