// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package affinity remembers for a while which item a key was given, for a
// bounded number of keys: the least recently used ones are forgotten first.
package affinity
