// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalance

// took takes in how long a call took, in nanoseconds, or that it failed.
func (s *service) took(n *node, now, took int64, failed bool) {
	if failed {
		n.history.Failed(now)
	} else {
		s.mean.Observe(now, s.core.policy.average(&n.history, now, took, s.mean.Value()))
	}
	n.history.Compare(s.mean.Value())
	if s.pacer != nil {
		s.pacer.paced(n, now)
	}
}
