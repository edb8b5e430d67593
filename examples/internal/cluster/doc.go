// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package cluster runs an etcd and providers of the Echo service inside this
// process, on free loopback ports, so that a demo or a test needs nothing else.
// Both can be stopped and started again under their addresses. A provider that
// is to be killed runs in a process of its own, see [StartProcess].
package cluster
