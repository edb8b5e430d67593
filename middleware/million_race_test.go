// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

//go:build race

package middleware_test

const mixedCalls = 10_000 // the race detector makes a call ten times as long
