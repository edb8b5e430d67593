// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package demo is the program examples/demo: an etcd, three providers and a
// consumer under load in one process, and a live table of where the calls go; or
// the story of package story.
package demo
