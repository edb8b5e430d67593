// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package compat shows in its tests that Fairway and
// github.com/kitex-contrib/registry-etcd share one registry in both
// directions. Each provider and consumer of the mixed fleet is a process of its
// own with either library, against a real etcd. docs/migration.md builds on it.
package compat
