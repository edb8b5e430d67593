// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package rendezvous chooses a few of many items for a caller, so that each
// caller has the same ones always and all callers together use all items alike:
// the items with the highest scores, which are hashes of caller and item (D. G.
// Thaler and C. V. Ravishankar, 1998). An item that joins or leaves changes one
// place in the choices that it concerns, and nothing in the others.
package rendezvous
