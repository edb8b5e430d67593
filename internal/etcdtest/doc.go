// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package etcdtest gives tests real etcd processes, and the faults that real
// etcd clusters have: crash, freeze, restart, loss of all data, data that goes
// back in time, a lost leader, tokens that end, cut and silent networks.
//
//	srv := etcdtest.Start(t)
//	cli := srv.Client(t)
//	srv.Kill()    // gone, as in a power cut
//	srv.Restart() // back on the same port with the same data
//
// # Faults
//
// A [Server] is killed, stopped, frozen and wiped. [Server.Compact] takes the
// history away that a watch wants to resume from, [Server.Restore] puts an older
// [Server.Snapshot] behind the same address, [Server.RestoreAsOtherCluster] a
// cluster with another ID. [StartCluster] runs several members, of which
// [Cluster.Leader] is the one whose loss hurts most.
//
// A [Proxy] between client and server fails as networks do: Cut, Blackhole in
// one direction or both, Hold for new connections, and DropWatchEvents for an
// event that gets lost though everything looks well.
//
//	proxy := etcdtest.NewProxy(t, srv.Endpoint())
//	cli := srv.Client(t, etcdtest.Through(proxy))
//	proxy.Blackhole(etcdtest.FromTarget) // what the client asks is done
//
// [WithTLS], [WithMutualTLS] and [WithAuth] secure a server. Its clients, its
// restarts and [Etcdctl] with [Server.EtcdctlFlags] know how to get in.
//
// # The binary
//
// etcd is built from the module in tools, whose go.mod pins its version, on
// first use (about two minutes with a cold Go build cache) and kept in the
// user's cache directory under fairway-etcdtest; deleting that folder is safe.
// So are etcdctl and etcdutl, with which Restore works. Test processes that want
// one at the same time wait for the one that builds.
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
