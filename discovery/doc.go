// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package discovery tells who is there: providers register themselves in etcd
// and consumers follow them.
//
// A provider keeps a [Registry] and hands it to its Kitex server. The registry
// makes etcd agree with what the provider wants, for ever: it starts while
// etcd is down, comes back after a lost lease or a wiped store, and never
// writes a key without a lease.
//
//	reg, err := discovery.NewRegistry(etcdClient)
//	svr := echo.NewServer(handler, server.WithSuite(middleware.NewServerSuite(reg, "echo")))
//
// While it runs, [Registry.SetWeight], [Registry.SetTags], [Registry.Drain] and
// [Registry.Undrain] change what it wants, and [Registry.Status] tells how far
// etcd agrees.
//
// A consumer keeps a [Resolver] and hands it to its Kitex clients. The resolver
// holds one feed per service that is used: it lists the service once, watches
// it from then on, and publishes each change as an immutable [Snapshot]. It
// keeps a copy on disk, with which a process that starts during an outage of
// etcd makes its first call.
//
//	res, err := discovery.NewResolver(etcdClient)
//	cli, err := echo.NewClient("echo", client.WithSuite(middleware.NewClientSuite(res, lb)))
//
// An operator overrides records with [Rules], which every resolver applies. A
// [Static] is a resolver of a list in memory, without etcd.
//
// # Failure
//
// While etcd cannot be reached the last known instances are served, with their
// age; see [FeedState]. Instances that vanish from etcd in numbers, without
// saying that they leave, are held while they answer; see [Guard]. An unreadable
// record is skipped, counted and logged once. All types borrow the client that
// they are given and never close it.
//
// # Concurrency
//
// Everything exported here is safe for concurrent use, unless it says otherwise.
package discovery
