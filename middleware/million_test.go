// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package middleware_test

const mixedCalls = 250_000 // under each of four policies
