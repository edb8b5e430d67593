// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package probe finds out which suspects, instances that vanished from the
// registry without saying goodbye, still accept connections. It knows nothing
// of registries: an address goes in, and a callback comes when two probes in a
// row have failed. However many suspects there are, probes are bounded in
// number, in rate and in time.
package probe
