// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package leaktest fails tests that leave goroutines behind. It is the one
// place that names the goroutines of Kitex which never end or outlive their
// client and server; nothing else is excused, and Kitex's workers are excused
// only while they idle.
//
//	func TestMain(m *testing.M) { leaktest.Main(m) }
package leaktest
