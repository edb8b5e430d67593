// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package etcdtest gives tests real etcd processes, and the faults that real
// etcd clusters have: crash, freeze, restart, loss of all data, cut and silent
// networks.
//
//	srv := etcdtest.Start(t)
//	cli := srv.Client(t)
//	srv.Kill()    // gone, as in a power cut
//	srv.Restart() // back on the same port with the same data
//
// # The binary
//
// etcd is built from the module in tools, whose go.mod pins its version, on
// first use (about two minutes with a cold Go build cache) and kept in the
// user's cache directory under fairway-etcdtest; deleting that folder is safe.
// Test processes that want it at the same time wait for the one that builds.
//
// # Lifetime
//
// A process ends with its test, also when it is frozen. On Unix it ends too
// when the test process itself is killed: a watchdog holds a pipe from the test
// process and kills etcd when the pipe breaks. On Windows the package compiles,
// but there is no watchdog, Stop kills, and Freeze fails the test.
//
// # Use
//
// Methods that take no testing.TB report failures to the one given to [Start],
// so they belong on that test's goroutine. etcd's output is kept in a file in
// the test's folder and its end is logged when the test fails.
package etcdtest
