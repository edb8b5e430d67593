// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package faulttest has no code but tests: providers and consumers on real
// etcd processes, with calls going on while something fails. Each test is one
// fault and what must hold in it. Most of their time is waiting, so they run
// beside each other.
//
// Providers that are killed or stopped run in processes of their own, which are
// this test binary again.
package faulttest
