// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package story is the demo's -story: what may happen to services and to etcd,
// one after the other, while calls go on, and what the calls notice of it.
//
// The steps are a table of functions, which move a stage: an etcd,
// providers and a consumer. What is counted and said is apart from that and
// pure.
package story
