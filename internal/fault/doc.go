// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package fault holds the error values that several packages of Fairway share,
// so that errors.Is gives one answer whichever package reports them.
package fault
