// Copyright The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package faulttest

import (
	"slices"
	"testing"
	"time"

	"github.com/fairway-rpc/fairway/discovery"
)

// TestConsumerIdlesInAnOutage: a minute without a call, in which Kitex drops
// the balancer that nobody uses.
func TestConsumerIdlesInAnOutage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, 10*time.Second)
	w.load.goesOn(50)
	w.load.stop()
	w.load.noneFailed()
	w.etcd.Kill()
	lasts(t, time.Minute)
	before, _ := w.resolver.Snapshot(service)
	_, took, err := call(t, w.load.cli)
	if err != nil || took > time.Second {
		t.Errorf("the next call took %v, %v", took, err)
	}
	after, _ := w.resolver.Snapshot(service)
	if after.State != discovery.FeedStale || after.Source != discovery.SourceEtcd || !slices.Equal(after.Instances, before.Instances) || len(after.Instances) != 2 {
		t.Errorf("snapshot %+v, want the last one that etcd has proved, stale: %+v", after, before)
	}
}
