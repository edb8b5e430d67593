// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package live is the seam between who knows the instances of a service
// (package discovery) and who chooses among them (package loadbalance),
// neither of which imports the other.
//
// A resolver publishes each new list in a [View] and enters the view under the
// cache key that Kitex hands to balancers. A balancer that finds a view under
// its key follows the view and no longer depends on Kitex's refresh, which
// lags by up to five seconds.
package live
